// Four rows of four processing elements. Values of A enter each row on the left and travel right; values of B enter
// each column at the top and travel down. Element (r, c) sees value k of both in cycle k + r + c.
module systolic_array (
    input  logic               clock,
    input  logic               clear,
    input  logic               run,
    input  logic signed [7:0]  a_edge_0,
    input  logic signed [7:0]  a_edge_1,
    input  logic signed [7:0]  a_edge_2,
    input  logic signed [7:0]  a_edge_3,
    input  logic signed [7:0]  b_edge_0,
    input  logic signed [7:0]  b_edge_1,
    input  logic signed [7:0]  b_edge_2,
    input  logic signed [7:0]  b_edge_3,
    input  logic [1:0]         row,     // of the sum that is read
    input  logic [1:0]         column,
    output logic signed [31:0] sum
);
  // What row r gets from above in column c is b_r_c.
  logic signed [7:0] b_1_0, b_1_1, b_1_2, b_1_3;
  logic signed [7:0] b_2_0, b_2_1, b_2_2, b_2_3;
  logic signed [7:0] b_3_0, b_3_1, b_3_2, b_3_3;
  // verilator lint_off UNUSEDSIGNAL
  logic signed [7:0] b_4_0, b_4_1, b_4_2, b_4_3;  // the last row hands on to nobody
  // verilator lint_on UNUSEDSIGNAL
  logic signed [31:0] sum_0, sum_1, sum_2, sum_3;

  systolic_row row_0 (
      .clock, .clear, .run, .a_in(a_edge_0), .column, .sum(sum_0),
      .b_in_0(b_edge_0), .b_in_1(b_edge_1), .b_in_2(b_edge_2), .b_in_3(b_edge_3),
      .b_out_0(b_1_0), .b_out_1(b_1_1), .b_out_2(b_1_2), .b_out_3(b_1_3));
  systolic_row row_1 (
      .clock, .clear, .run, .a_in(a_edge_1), .column, .sum(sum_1),
      .b_in_0(b_1_0), .b_in_1(b_1_1), .b_in_2(b_1_2), .b_in_3(b_1_3),
      .b_out_0(b_2_0), .b_out_1(b_2_1), .b_out_2(b_2_2), .b_out_3(b_2_3));
  systolic_row row_2 (
      .clock, .clear, .run, .a_in(a_edge_2), .column, .sum(sum_2),
      .b_in_0(b_2_0), .b_in_1(b_2_1), .b_in_2(b_2_2), .b_in_3(b_2_3),
      .b_out_0(b_3_0), .b_out_1(b_3_1), .b_out_2(b_3_2), .b_out_3(b_3_3));
  systolic_row row_3 (
      .clock, .clear, .run, .a_in(a_edge_3), .column, .sum(sum_3),
      .b_in_0(b_3_0), .b_in_1(b_3_1), .b_in_2(b_3_2), .b_in_3(b_3_3),
      .b_out_0(b_4_0), .b_out_1(b_4_1), .b_out_2(b_4_2), .b_out_3(b_4_3));

  always_comb begin
    case (row)
      2'd0: sum = sum_0;
      2'd1: sum = sum_1;
      2'd2: sum = sum_2;
      default: sum = sum_3;
    endcase
  end
endmodule
