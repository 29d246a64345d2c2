// Two random matrices, fed in as lanes feed them: every sum is the product's, K + M + N - 1 cycles after the first
// value.
module systolic_array_bench (
    output logic        finished,
    output logic [31:0] faults
);
  localparam int INNER = 21;

  logic clock = 1'b0;
  logic clear = 1'b1;
  logic run = 1'b0;
  logic signed [7:0] a_edge_0, a_edge_1, a_edge_2, a_edge_3;
  logic signed [7:0] b_edge_0, b_edge_1, b_edge_2, b_edge_3;
  logic [1:0] row = '0, column = '0;
  logic signed [31:0] sum;
  systolic_array unit (.clock, .clear, .run, .a_edge_0, .a_edge_1, .a_edge_2, .a_edge_3, .b_edge_0, .b_edge_1,
                       .b_edge_2, .b_edge_3, .row, .column, .sum);
  initial forever #1 clock = !clock;

  logic signed [7:0] a [0:4*INNER-1];  // by row
  logic signed [7:0] b [0:4*INNER-1];  // by column
  int cycle, expected;

  // The value of lane l in this cycle.
  function automatic logic signed [7:0] a_edge(input int l);
    a_edge = cycle < l || cycle >= INNER + l ? 8'sd0 : a[l*INNER+cycle-l];
  endfunction
  function automatic logic signed [7:0] b_edge(input int l);
    b_edge = cycle < l || cycle >= INNER + l ? 8'sd0 : b[l*INNER+cycle-l];
  endfunction

  initial begin
    finished = 1'b0;
    faults = 0;
    for (int round = 0; round < 5; round = round + 1) begin
      for (int i = 0; i < 4 * INNER; i = i + 1) begin
        a[i] = 8'($urandom);
        b[i] = 8'($urandom);
      end
      clear = 1'b1;
      @(negedge clock);
      clear = 1'b0;
      run = 1'b1;
      for (int i = 0; i < INNER + 4 + 4 - 1; i = i + 1) begin
        cycle = i;
        a_edge_0 = a_edge(0);
        a_edge_1 = a_edge(1);
        a_edge_2 = a_edge(2);
        a_edge_3 = a_edge(3);
        b_edge_0 = b_edge(0);
        b_edge_1 = b_edge(1);
        b_edge_2 = b_edge(2);
        b_edge_3 = b_edge(3);
        @(negedge clock);
      end
      run = 1'b0;
      for (int r = 0; r < 4; r = r + 1) begin
        for (int c = 0; c < 4; c = c + 1) begin
          expected = 0;
          for (int k = 0; k < INNER; k = k + 1) expected = expected + 32'(a[r*INNER+k]) * 32'(b[c*INNER+k]);
          row = r[1:0];
          column = c[1:0];
          @(negedge clock);
          if (sum !== expected) begin
            faults = faults + 1;
            $display("systolic_array: %0d at (%0d, %0d) instead of %0d", sum, r, c, expected);
          end
        end
      end
    end
    finished = 1'b1;
  end
endmodule
