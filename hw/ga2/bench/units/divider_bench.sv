// Quotients of random numbers of every size and of the ends, and that each takes 40 steps.
module divider_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic [39:0] dividend = '0;
  logic [39:0] divisor = 40'd1;
  logic done;
  logic [39:0] quotient;
  divider unit (.clock, .reset, .start, .dividend, .divisor, .done, .quotient);
  initial forever #1 clock = !clock;

  int steps;

  task automatic check(input logic [39:0] top, input logic [39:0] bottom);
    dividend = top;
    divisor = bottom;
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    dividend = '1;
    divisor = '1;
    steps = 1;
    while (!done && steps < 100) begin
      @(negedge clock);
      steps = steps + 1;
    end
    @(negedge clock);
    if (quotient !== top / bottom || steps !== 40) begin
      faults = faults + 1;
      $display("divider: %0d / %0d = %0d after %0d steps", top, bottom, quotient, steps);
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    check(40'd1 << 38, 40'd65535);
    check(40'd1 << 38, 40'd268431360);
    check('1, 40'd1);
    check('1, '1);
    check(40'd0, 40'd7);
    check(40'd6, 40'd7);
    for (int i = 0; i < 200; i = i + 1) begin
      check({$urandom, 8'($urandom)} >> ($urandom % 40), 40'd1 + ({8'($urandom), $urandom} >> (1 + $urandom % 39)));
    end
    finished = 1'b1;
  end
endmodule
