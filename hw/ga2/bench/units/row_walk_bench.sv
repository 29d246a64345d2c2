// Walks of several lengths, with and without pauses: every index in order, each two steps after it was asked for.
module row_walk_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic advance = 1'b1;
  logic [12:0] count = 13'd1;
  logic [11:0] index;
  logic arrived;
  logic [11:0] arrived_index;
  logic arrived_last;
  row_walk unit (.clock, .reset, .start, .advance, .count, .index, .arrived, .arrived_index, .arrived_last);
  initial forever #1 clock = !clock;

  int steps, seen, cycles;

  task automatic fault;
    faults = faults + 1;
    $display("row_walk: %0d words, %0d seen, step %0d: index %0d, arrived %0d %0d %0d", count, seen, steps, index,
             arrived, arrived_index, arrived_last);
  endtask

  task automatic walk(input logic [12:0] length, input logic pauses);
    count = length;
    advance = 1'b1;
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    steps = 0;
    seen = 0;
    cycles = 0;
    while (seen < 32'(length) && cycles < 20000) begin
      cycles = cycles + 1;
      advance = !pauses || $urandom % 3 !== 0;
      if (steps < 32'(length) && 32'(index) !== steps) fault;
      if (arrived !== (steps >= 2)) fault;
      if (arrived && 32'(arrived_index) !== steps - 2) fault;
      if (arrived_last !== (steps == 32'(length) + 1)) fault;
      if (advance) begin
        if (arrived) seen = seen + 1;
        steps = steps + 1;
      end
      @(negedge clock);
    end
    if (steps !== 32'(length) + 2) fault;
    if (arrived) fault;
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    for (int pauses = 0; pauses < 2; pauses = pauses + 1) begin
      walk(13'd1, pauses[0]);
      walk(13'd2, pauses[0]);
      walk(13'd3, pauses[0]);
      walk(13'd70, pauses[0]);
      walk(13'd4096, pauses[0]);
    end
    finished = 1'b1;
  end
endmodule
