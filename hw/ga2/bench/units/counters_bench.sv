// Each counter counts its own cycles, and a reset clears them all.
module counters_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic running = 1'b0, matrix_busy = 1'b0, transfer_busy = 1'b0, vector_busy = 1'b0, dispatch = 1'b0;
  logic [63:0] total, matrix, transfer, vector, instructions;
  counters unit (.clock, .reset, .running, .matrix_busy, .transfer_busy, .vector_busy, .dispatch, .total, .matrix,
                 .transfer, .vector, .instructions);
  initial forever #1 clock = !clock;

  logic [4:0] what;
  logic [63:0] expected_total, expected_matrix, expected_transfer, expected_vector, expected_instructions;

  task automatic check;
    if (total !== expected_total || matrix !== expected_matrix || transfer !== expected_transfer ||
        vector !== expected_vector || instructions !== expected_instructions) begin
      faults = faults + 1;
      $display("counters: %0d %0d %0d %0d %0d", total, matrix, transfer, vector, instructions);
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    expected_total = 0;
    expected_matrix = 0;
    expected_transfer = 0;
    expected_vector = 0;
    expected_instructions = 0;
    @(negedge clock);
    reset = 1'b0;
    for (int i = 0; i < 200; i = i + 1) begin
      what = 5'($urandom);
      {running, matrix_busy, transfer_busy, vector_busy, dispatch} = what;
      expected_total = expected_total + 64'(what[4]);
      expected_matrix = expected_matrix + 64'(what[3]);
      expected_transfer = expected_transfer + 64'(what[2]);
      expected_vector = expected_vector + 64'(what[1]);
      expected_instructions = expected_instructions + 64'(what[0]);
      @(negedge clock);
      check;
    end
    expected_total = 0;
    expected_matrix = 0;
    expected_transfer = 0;
    expected_vector = 0;
    expected_instructions = 0;
    reset = 1'b1;
    @(negedge clock);
    check;
    finished = 1'b1;
  end
endmodule
