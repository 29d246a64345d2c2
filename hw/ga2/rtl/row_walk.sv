// Walks over `count` words of the scratchpad, one a cycle: `index` is the word that is asked for now, and two cycles
// later, when the scratchpad has it, `arrived` is 1 and `arrived_index` tells which it is. The walk begins in the
// cycle after `start` and ends with `arrived_last`, count + 2 cycles in all. With `advance` at 0 it stands still.
module row_walk #(
    parameter int BITS = 13
) (
    input  logic            clock,
    input  logic            reset,
    input  logic            start,
    input  logic            advance,
    input  logic [BITS-1:0] count,
    output logic [BITS-2:0] index,
    output logic            arrived,
    output logic [BITS-2:0] arrived_index,
    output logic            arrived_last
);
  logic asking;
  logic fetched;
  logic [BITS-2:0] fetched_index;

  always_ff @(posedge clock) begin
    if (reset) begin
      asking <= 1'b0;
      fetched <= 1'b0;
      arrived <= 1'b0;
      index <= '0;
    end else begin
      if (advance) begin
        fetched <= asking;
        fetched_index <= index;
        arrived <= fetched;
        arrived_index <= fetched_index;
        if (asking) begin
          index <= index + 1'b1;
          if ({1'b0, index} == count - 1'b1) asking <= 1'b0;
        end
      end
      if (start) begin
        asking <= 1'b1;
        index <= '0;
      end
    end
  end

  assign arrived_last = arrived && {1'b0, arrived_index} == count - 1'b1;
endmodule
