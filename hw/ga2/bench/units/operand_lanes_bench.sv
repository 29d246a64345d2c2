// Lane l gives value k in the cycle after step k + l, zeros before and behind.
module operand_lanes_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic write_enable = 1'b0;
  logic [1:0] write_lane = '0;
  logic [5:0] write_index = '0;
  logic signed [7:0] write_value = '0;
  logic run = 1'b0;
  logic [6:0] step = '0;
  logic [6:0] inner = 7'd1;
  logic signed [7:0] value_0, value_1, value_2, value_3;
  operand_lanes unit (.clock, .write_enable, .write_lane, .write_index, .write_value, .run, .step, .inner, .value_0,
                      .value_1, .value_2, .value_3);
  initial forever #1 clock = !clock;

  function automatic logic signed [7:0] value_of(input int lane, input int index);
    value_of = index < 0 || index >= 32'(inner) ? 8'sd0 : 8'(lane * 64 + index + 1);
  endfunction

  task automatic check(input logic signed [7:0] found, input int lane, input int at);
    if (found !== value_of(lane, at - lane)) begin
      faults = faults + 1;
      $display("operand_lanes: lane %0d gives %0d at step %0d of %0d", lane, found, at, inner);
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    write_enable = 1'b1;
    for (int i = 0; i < 256; i = i + 1) begin
      {write_lane, write_index} = i[7:0];
      write_value = 8'(i + 1);
      @(negedge clock);
    end
    write_enable = 1'b0;
    for (int i = 0; i < 5; i = i + 1) begin
      case (i)
        0: inner = 7'd64;
        1: inner = 7'd1;
        2: inner = 7'd4;
        default: inner = 7'(1 + $urandom % 64);
      endcase
      run = 1'b1;
      for (int s = 0; s < 32'(inner) + 8; s = s + 1) begin
        step = s[6:0];
        @(negedge clock);
        check(value_0, 0, s);
        check(value_1, 1, s);
        check(value_2, 2, s);
        check(value_3, 3, s);
      end
      run = 1'b0;
      step = '0;
      @(negedge clock);
      if ({value_0, value_1, value_2, value_3} !== '0) faults = faults + 1;
    end
    finished = 1'b1;
  end
endmodule
