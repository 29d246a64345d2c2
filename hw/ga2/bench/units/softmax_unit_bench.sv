// Rows of softmax.txt of the vectors: a length, as many values, and as many fractions a line. Then the whole
// scratchpad as one row, in place, against 64-bit arithmetic.
module softmax_unit_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic [11:0] dst = '0, src = '0;
  logic [12:0] len = 13'd1;
  logic busy, done, write_enable;
  logic [11:0] read_address, write_address;
  logic [31:0] read_data, write_data;
  softmax_unit unit (.clock, .reset, .start, .dst, .src, .len, .busy, .done, .read_address,
                     .read_value(read_data[7:0]), .write_enable, .write_address, .write_data);
  scratchpad pad (.clock, .read_advance(1'b1), .read_address, .read_data, .write_enable, .write_address, .write_data);
  initial forever #1 clock = !clock;

  string folder;
  int file, got, rows, count, number, cycles, most;
  int expected [0:4095];
  longint sum;

  task automatic run_it;
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    cycles = 0;
    while (busy && cycles < 20000) begin
      cycles = cycles + 1;
      if (done !== (cycles == 47 + 3 * 32'(len))) faults = faults + 1;
      @(negedge clock);
    end
    if (cycles !== 47 + 3 * 32'(len)) begin
      faults = faults + 1;
      $display("softmax_unit: %0d cycles for %0d values", cycles, len);
    end
    for (int i = 0; i < 32'(len); i = i + 1) begin
      if (pad.words[32'(dst)+i] !== expected[i]) begin
        faults = faults + 1;
        $display("softmax_unit: fraction %0d of row %0d is %0d instead of %0d", i, rows, pad.words[32'(dst)+i],
                 expected[i]);
      end
    end
  endtask

  function automatic longint weight(input int distance);
    weight = 64'($rtoi(65535.0 * $exp(-1.0 * distance / 16.0) + 0.5));
  endfunction

  initial begin
    finished = 1'b0;
    faults = 0;
    rows = 0;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    if (!$value$plusargs("vectors=%s", folder)) $fatal(1, "+vectors is missing");
    file = $fopen({folder, "/softmax.txt"}, "r");
    if (file == 0) $fatal(1, "no softmax.txt");
    got = $fscanf(file, "%d", count);
    while (got == 1) begin
      rows = rows + 1;
      len = count[12:0];
      src = 12'($urandom % 1000);
      dst = rows % 2 == 0 ? src : 12'(2000 + $urandom % 1000);
      for (int i = 0; i < count; i = i + 1) begin
        got = $fscanf(file, "%d", number);
        // The unit reads the low byte.
        pad.words[32'(src)+i] = {24'($urandom), number[7:0]};
      end
      for (int i = 0; i < count; i = i + 1) got = $fscanf(file, "%d", expected[i]);
      run_it;
      got = $fscanf(file, "%d", count);
    end
    $fclose(file);
    if (rows < 30) faults = faults + 1;

    for (int round = 0; round < 2; round = round + 1) begin
      sum = 0;
      most = -128;
      for (int i = 0; i < 4096; i = i + 1) begin
        // All equal first: the largest sum.
        pad.words[i] = round == 0 ? 32'h80 : $urandom;
        number = 32'($signed(pad.words[i][7:0]));
        if (number > most) most = number;
      end
      for (int i = 0; i < 4096; i = i + 1) sum = sum + weight(most - 32'($signed(pad.words[i][7:0])));
      for (int i = 0; i < 4096; i = i + 1) begin
        expected[i] = 32'((weight(most - 32'($signed(pad.words[i][7:0]))) * ((64'sd1 <<< 38) / sum) +
                           (64'sd1 <<< 21)) >>> 22);
      end
      len = 13'd4096;
      src = '0;
      dst = '0;
      run_it;
    end
    finished = 1'b1;
  end
endmodule
