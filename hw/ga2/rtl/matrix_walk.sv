// Walks over the words of a matrix, row by row, one a cycle, beginning in the cycle after `start`: `address` is
// base + row * stride + column. `last` marks the last word. No multiplier: a row's address is the one before plus
// the stride.
module matrix_walk (
    input  logic        clock,
    input  logic        reset,
    input  logic        start,
    input  logic [11:0] base,
    input  logic [11:0] stride,
    input  logic [6:0]  rows,
    input  logic [6:0]  columns,
    output logic        active,
    output logic [11:0] address,
    output logic [5:0]  row,
    output logic [5:0]  column,
    output logic        last
);
  logic [11:0] row_address;
  logic last_column;

  assign last_column = {1'b0, column} == columns - 1'b1;
  assign last = active && last_column && {1'b0, row} == rows - 1'b1;
  assign address = row_address + {6'd0, column};

  always_ff @(posedge clock) begin
    if (reset) begin
      active <= 1'b0;
    end else if (start) begin
      active <= 1'b1;
      row_address <= base;
      row <= '0;
      column <= '0;
    end else if (active) begin
      if (last) active <= 1'b0;
      if (last_column) begin
        column <= '0;
        row <= row + 1'b1;
        row_address <= row_address + stride;
      end else begin
        column <= column + 1'b1;
      end
    end
  end
endmodule
