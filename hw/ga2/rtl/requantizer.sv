// accumulator * multiplier / 2^shift as a level: to the nearest integer, halves away from zero, clamped to
// [-127, 127], and at least 0 where `relu`. It works on the magnitude, so that one rounding serves both signs: half a
// unit is added and what lies below the unit is cut off. Combinational.
module requantizer (
    input  logic signed [31:0] accumulator,
    input  logic [23:0]        multiplier,
    input  logic [5:0]         shift,
    input  logic               relu,
    output logic signed [7:0]  level
);
  logic negative;
  logic [31:0] magnitude;
  logic [55:0] product;
  logic [63:0] half;
  logic [63:0] rounded;
  logic [6:0] clamped;

  assign negative = accumulator[31];
  assign magnitude = negative ? -accumulator : accumulator;
  assign product = {24'd0, magnitude} * {32'd0, multiplier};
  assign half = (64'd1 << shift) >> 1;  // 0 for a shift of 0
  assign rounded = ({8'd0, product} + half) >> shift;
  assign clamped = rounded > 64'd127 ? 7'd127 : rounded[6:0];

  always_comb begin
    if (!negative) level = {1'b0, clamped};
    else if (relu) level = '0;
    else level = -{1'b0, clamped};
  end
endmodule
