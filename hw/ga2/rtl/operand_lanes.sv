// One operand of the systolic array: four lanes, which take the values they are written one by one and then give them
// to the array's edge, each lane a cycle later than the one before.
module operand_lanes (
    input  logic              clock,
    input  logic              write_enable,
    input  logic [1:0]        write_lane,
    input  logic [5:0]        write_index,
    input  logic signed [7:0] write_value,
    input  logic              run,
    input  logic [6:0]        step,
    input  logic [6:0]        inner,
    output logic signed [7:0] value_0,
    output logic signed [7:0] value_1,
    output logic signed [7:0] value_2,
    output logic signed [7:0] value_3
);
  operand_lane #(.LANE(0)) lane_0 (.clock, .write_enable, .write_lane, .write_index, .write_value, .run, .step, .inner,
                                   .value(value_0));
  operand_lane #(.LANE(1)) lane_1 (.clock, .write_enable, .write_lane, .write_index, .write_value, .run, .step, .inner,
                                   .value(value_1));
  operand_lane #(.LANE(2)) lane_2 (.clock, .write_enable, .write_lane, .write_index, .write_value, .run, .step, .inner,
                                   .value(value_2));
  operand_lane #(.LANE(3)) lane_3 (.clock, .write_enable, .write_lane, .write_index, .write_value, .run, .step, .inner,
                                   .value(value_3));
endmodule
