// One row of the systolic array: a value of A enters on the left and passes all four elements; values of B enter from
// the row above and leave for the row below.
module systolic_row (
    input  logic               clock,
    input  logic               clear,
    input  logic               run,
    input  logic signed [7:0]  a_in,
    input  logic signed [7:0]  b_in_0,
    input  logic signed [7:0]  b_in_1,
    input  logic signed [7:0]  b_in_2,
    input  logic signed [7:0]  b_in_3,
    output logic signed [7:0]  b_out_0,
    output logic signed [7:0]  b_out_1,
    output logic signed [7:0]  b_out_2,
    output logic signed [7:0]  b_out_3,
    input  logic [1:0]         column,  // whose sum is read
    output logic signed [31:0] sum
);
  logic signed [7:0] a_1, a_2, a_3;
  // verilator lint_off UNUSEDSIGNAL
  logic signed [7:0] a_4;  // the last element hands on to nobody
  // verilator lint_on UNUSEDSIGNAL
  logic signed [31:0] sum_0, sum_1, sum_2, sum_3;

  processing_element element_0 (.clock, .clear, .run, .a_in, .b_in(b_in_0), .a_out(a_1), .b_out(b_out_0), .sum(sum_0));
  processing_element element_1 (.clock, .clear, .run, .a_in(a_1), .b_in(b_in_1), .a_out(a_2), .b_out(b_out_1),
                                .sum(sum_1));
  processing_element element_2 (.clock, .clear, .run, .a_in(a_2), .b_in(b_in_2), .a_out(a_3), .b_out(b_out_2),
                                .sum(sum_2));
  processing_element element_3 (.clock, .clear, .run, .a_in(a_3), .b_in(b_in_3), .a_out(a_4), .b_out(b_out_3),
                                .sum(sum_3));

  always_comb begin
    case (column)
      2'd0: sum = sum_0;
      2'd1: sum = sum_1;
      2'd2: sum = sum_2;
      default: sum = sum_3;
    endcase
  end
endmodule
