// One cell of the systolic array. In each cycle of `run` it hands its operands on (a to the right, b downwards),
// multiplies them, and adds the product of the cycle before to its sum. The sum stays where it is: output stationary.
module processing_element (
    input  logic               clock,
    input  logic               clear,
    input  logic               run,
    input  logic signed [7:0]  a_in,
    input  logic signed [7:0]  b_in,
    output logic signed [7:0]  a_out,
    output logic signed [7:0]  b_out,
    output logic signed [31:0] sum
);
  logic signed [15:0] product;

  always_ff @(posedge clock) begin
    if (clear) begin
      a_out <= '0;
      b_out <= '0;
      product <= '0;
      sum <= '0;
    end else if (run) begin
      a_out <= a_in;
      b_out <= b_in;
      product <= a_in * b_in;
      sum <= sum + 32'(product);
    end
  end
endmodule
