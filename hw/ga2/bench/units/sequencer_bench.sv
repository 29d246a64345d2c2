// A program of three instructions whose units take 1, 5 and 2 cycles, then HALT; another start; one that is illegal.
module sequencer_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic [3:0] opcode;
  logic legal;
  logic unit_done;
  logic [15:0] program_counter;
  logic dispatch, running, halted, error;
  sequencer unit (.clock, .reset, .start, .opcode, .legal, .unit_done, .program_counter, .dispatch, .running, .halted,
                  .error);
  initial forever #1 clock = !clock;

  // The program memory and a unit.
  int illegal_at, left, dispatches, cycles;
  always_ff @(posedge clock) begin
    opcode <= program_counter == 16'd3 ? 4'd0 : 4'd1;
    legal <= 32'(program_counter) !== illegal_at;
    if (dispatch) left <= program_counter == 16'd0 ? 1 : program_counter == 16'd1 ? 5 : 2;
    else if (left > 0) left <= left - 1;
  end
  assign unit_done = left == 1;

  task automatic run_it(input int wanted_cycles, input int wanted_dispatches, input logic [15:0] wanted_end);
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    cycles = 0;
    dispatches = 0;
    while (!halted && cycles < 100) begin
      if (!running) faults = faults + 1;
      cycles = cycles + 1;
      dispatches = dispatches + 32'(dispatch);
      @(negedge clock);
    end
    if (cycles !== wanted_cycles || dispatches !== wanted_dispatches || program_counter !== wanted_end || running ||
        error !== (illegal_at >= 0)) begin
      faults = faults + 1;
      $display("sequencer: %0d cycles, %0d dispatches, at %0d, error %0d", cycles, dispatches, program_counter, error);
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    illegal_at = -1;
    left = 0;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    @(negedge clock);
    if (running || halted || error || dispatch) faults = faults + 1;
    run_it(4 * 2 + 1 + 5 + 2, 3, 16'd3);
    run_it(4 * 2 + 1 + 5 + 2, 3, 16'd3);
    illegal_at = 1;
    run_it(2 * 2 + 1, 1, 16'd1);
    illegal_at = -1;
    run_it(4 * 2 + 1 + 5 + 2, 3, 16'd3);
    finished = 1'b1;
  end
endmodule
