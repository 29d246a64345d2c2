// Random matrices: the address of every word in order, its row and column, and where the walk ends.
module matrix_walk_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic [11:0] base = '0;
  logic [11:0] stride = '0;
  logic [6:0] rows = 7'd1;
  logic [6:0] columns = 7'd1;
  logic active;
  logic [11:0] address;
  logic [5:0] row;
  logic [5:0] column;
  logic last;
  matrix_walk unit (.clock, .reset, .start, .base, .stride, .rows, .columns, .active, .address, .row, .column, .last);
  initial forever #1 clock = !clock;

  task automatic walk;
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    for (int r = 0; r < 32'(rows); r = r + 1) begin
      for (int c = 0; c < 32'(columns); c = c + 1) begin
        if (!active || 32'(row) !== r || 32'(column) !== c ||
            address !== 12'(32'(base) + r * 32'(stride) + c) ||
            last !== (r == 32'(rows) - 1 && c == 32'(columns) - 1)) begin
          faults = faults + 1;
          $display("matrix_walk: %0d at (%0d, %0d) of %0d x %0d", address, r, c, rows, columns);
        end
        @(negedge clock);
      end
    end
    if (active) faults = faults + 1;
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    for (int i = 0; i < 60; i = i + 1) begin
      base = 12'($urandom);
      stride = 12'($urandom);
      rows = 7'(1 + $urandom % 4);
      columns = i % 3 == 0 ? 7'd64 : 7'(1 + $urandom % 8);
      if (i % 2 == 0) {rows, columns} = {columns, rows};
      walk;
    end
    finished = 1'b1;
  end
endmodule
