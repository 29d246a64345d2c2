// Random products of every shape against sums written down once more, and the cycles of each.
module matrix_unit_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic [11:0] dst = '0, a = '0, b = '0, lda = '0, ldb = '0, ldc = '0;
  logic [2:0] rows = 3'd1, columns = 3'd1;
  logic [6:0] inner = 7'd1;
  logic transposed = 1'b0;
  logic busy, done;
  logic write_enable;
  logic [11:0] read_address, write_address;
  logic [31:0] read_data, write_data;
  matrix_unit unit (.clock, .reset, .start, .dst, .a, .b, .rows, .inner, .columns, .transposed, .lda, .ldb, .ldc,
                    .busy, .done, .read_address, .read_value(read_data[7:0]), .write_enable, .write_address,
                    .write_data);
  scratchpad pad (.clock, .read_advance(1'b1), .read_address, .read_data, .write_enable, .write_address, .write_data);
  initial forever #1 clock = !clock;

  int cycles, writes, wanted, expected, first, second;
  int m, k, n;

  function automatic int level(input int address);
    level = 32'($signed(pad.words[address][7:0]));
  endfunction

  task automatic multiply;
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    cycles = 0;
    writes = 0;
    m = 32'(rows);
    k = 32'(inner);
    n = 32'(columns);
    wanted = 5 + m * k + k * n + m * n + k + m + n;
    while (busy && cycles < 2000) begin
      cycles = cycles + 1;
      writes = writes + 32'(write_enable);
      if (done !== (cycles == wanted)) faults = faults + 1;
      @(negedge clock);
    end
    if (cycles !== wanted || writes !== m * n) begin
      faults = faults + 1;
      $display("matrix_unit: %0d cycles instead of %0d, %0d writes", cycles, wanted, writes);
    end
    for (int r = 0; r < m; r = r + 1) begin
      for (int c = 0; c < n; c = c + 1) begin
        expected = 0;
        for (int t = 0; t < k; t = t + 1) begin
          first = level(32'(a) + r * 32'(lda) + t);
          second = level(32'(b) + (transposed ? c * 32'(ldb) + t : t * 32'(ldb) + c));
          expected = expected + first * second;
        end
        if (pad.words[32'(dst)+r*32'(ldc)+c] !== expected) begin
          faults = faults + 1;
          $display("matrix_unit: %0d x %0d x %0d, transposed %0d: (%0d, %0d) is %0d instead of %0d", rows, inner,
                   columns, transposed, r, c, $signed(pad.words[32'(dst)+r*32'(ldc)+c]), expected);
        end
      end
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    for (int i = 0; i < 4096; i = i + 1) pad.words[i] = $urandom;
    // Sums of the largest products.
    for (int i = 1800; i < 1864; i = i + 1) pad.words[i] = 32'h80;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    for (int r = 1; r <= 4; r = r + 1) begin
      for (int c = 1; c <= 4; c = c + 1) begin
        for (int i = 0; i < 4; i = i + 1) begin
          rows = r[2:0];
          columns = c[2:0];
          inner = i == 0 ? 7'd1 : i == 1 ? 7'd64 : 7'(1 + $urandom % 64);
          transposed = i[0] ^ r[0];
          a = 12'($urandom % 1000);
          b = 12'(1000 + $urandom % 1000);
          dst = 12'(3900 + $urandom % 100);
          lda = 12'($urandom % 200);
          ldb = 12'($urandom % (transposed ? 500 : 20));
          ldc = 12'(c + $urandom % 10);
          multiply;
        end
      end
    end
    a = 12'd1800;
    b = 12'd1800;
    lda = '0;
    ldb = '0;
    inner = 7'd64;
    transposed = 1'b1;
    multiply;
    finished = 1'b1;
  end
endmodule
