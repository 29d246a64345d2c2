// Divides without a remainder left over, one bit of the quotient a cycle, as on paper: bring down the next bit of the
// dividend, subtract the divisor where it goes. `start` takes the operands; WIDTH steps follow, `done` is 1 in the
// last of them, and the quotient stands from the cycle after it until the next start.
module divider #(
    parameter int WIDTH = 40
) (
    input  logic             clock,
    input  logic             reset,
    input  logic             start,
    input  logic [WIDTH-1:0] dividend,
    input  logic [WIDTH-1:0] divisor,
    output logic             done,
    output logic [WIDTH-1:0] quotient
);
  logic [WIDTH-1:0] by;
  logic [WIDTH-1:0] remainder;
  logic [5:0] left;  // steps still to do
  logic [WIDTH:0] next;
  logic [WIDTH:0] difference;
  logic goes;

  // The quotient's bits move in from the right as the dividend's leave on the left.
  assign next = {remainder, quotient[WIDTH-1]};
  assign difference = next - {1'b0, by};
  assign goes = !difference[WIDTH];  // no borrow
  assign done = left == 6'd1;

  always_ff @(posedge clock) begin
    if (reset) begin
      left <= '0;
    end else if (start) begin
      left <= 6'(WIDTH);
      by <= divisor;
      remainder <= '0;
      quotient <= dividend;
    end else if (left != '0) begin
      left <= left - 1'b1;
      remainder <= goes ? difference[WIDTH-1:0] : next[WIDTH-1:0];
      quotient <= {quotient[WIDTH-2:0], goes};
    end
  end
endmodule
