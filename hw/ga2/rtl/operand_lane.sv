// One row of A, or one column of B: at most 64 values for one edge of the systolic array. While `run`, the lane gives
// value step - LANE, or 0 where it has none: each lane begins a cycle after the one before it, so that the values
// which belong together meet in the array. What a lane gives stands in a register, a cycle after its step.
module operand_lane #(
    parameter int LANE = 0
) (
    input  logic              clock,
    input  logic              write_enable,
    input  logic [1:0]        write_lane,
    input  logic [5:0]        write_index,
    input  logic signed [7:0] write_value,
    input  logic              run,
    input  logic [6:0]        step,
    input  logic [6:0]        inner,  // values of each lane
    output logic signed [7:0] value
);
  logic signed [7:0] kept [0:ga2::MOST_INNER-1];
  logic [7:0] index;
  logic has_value;

  // A step before the lane's first wraps around to a large index.
  assign index = {1'b0, step} - 8'(LANE);
  assign has_value = index < {1'b0, inner};

  always_ff @(posedge clock) begin
    if (write_enable && write_lane == 2'(LANE)) kept[write_index] <= write_value;
    if (run && has_value) value <= kept[index[5:0]];
    else value <= '0;
  end
endmodule
