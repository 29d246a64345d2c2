// RQ: a row of accumulators through the requantizer, one word a cycle: len + 2 cycles.
module requantize_unit (
    input  logic        clock,
    input  logic        reset,
    input  logic        start,
    input  logic [11:0] dst,
    input  logic [11:0] src,
    input  logic [12:0] len,
    input  logic [23:0] multiplier,
    input  logic [5:0]  shift,
    input  logic        relu,
    output logic        busy,
    output logic        done,
    output logic [11:0] read_address,
    input  logic [31:0] read_data,
    output logic        write_enable,
    output logic [11:0] write_address,
    output logic [31:0] write_data
);
  logic [11:0] index;
  logic [11:0] arrived_index;
  logic signed [7:0] level;

  row_walk walk (.clock, .reset, .start, .advance(1'b1), .count(len), .index, .arrived(write_enable), .arrived_index,
                 .arrived_last(done));
  requantizer arithmetic (.accumulator(read_data), .multiplier, .shift, .relu, .level);

  assign read_address = src + index;
  assign write_address = dst + arrived_index;
  assign write_data = 32'(level);

  always_ff @(posedge clock) begin
    if (reset) busy <= 1'b0;
    else if (start) busy <= 1'b1;
    else if (done) busy <= 1'b0;
  end
endmodule
