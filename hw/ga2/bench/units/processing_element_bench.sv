// Operands leave a cycle after they came; a product is in the sum two cycles after its operands; nothing moves
// without `run`; `clear` empties everything.
module processing_element_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic clear = 1'b1;
  logic run = 1'b0;
  logic signed [7:0] a_in = '0, b_in = '0;
  logic signed [7:0] a_out, b_out;
  logic signed [31:0] sum;
  processing_element unit (.clock, .clear, .run, .a_in, .b_in, .a_out, .b_out, .sum);
  initial forever #1 clock = !clock;

  logic signed [7:0] a_before, b_before;
  int product, expected;

  initial begin
    finished = 1'b0;
    faults = 0;
    for (int round = 0; round < 3; round = round + 1) begin
      clear = 1'b1;
      @(negedge clock);
      clear = 1'b0;
      product = 0;
      expected = 0;
      a_before = '0;
      b_before = '0;
      for (int i = 0; i < 200; i = i + 1) begin
        run = round == 0 || $urandom % 4 !== 0;
        a_in = i == 3 ? -8'sd128 : 8'($urandom);
        b_in = i == 3 ? -8'sd128 : 8'($urandom);
        @(negedge clock);
        if (run) begin
          expected = expected + product;
          product = 32'(a_in) * 32'(b_in);
          a_before = a_in;
          b_before = b_in;
        end
        if (sum !== expected || a_out !== a_before || b_out !== b_before) begin
          faults = faults + 1;
          $display("processing_element: sum %0d instead of %0d", sum, expected);
        end
      end
    end
    finished = 1'b1;
  end
endmodule
