// Rows of several lengths, also in place; the arithmetic is the requantizer's own bench.
module requantize_unit_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic [11:0] dst = '0, src = '0;
  logic [12:0] len = 13'd1;
  logic [23:0] multiplier = 24'd1;
  logic [5:0] shift = '0;
  logic relu = 1'b0;
  logic busy, done, write_enable;
  logic [11:0] read_address, write_address;
  logic [31:0] read_data, write_data;
  requantize_unit unit (.clock, .reset, .start, .dst, .src, .len, .multiplier, .shift, .relu, .busy, .done,
                        .read_address, .read_data, .write_enable, .write_address, .write_data);
  scratchpad pad (.clock, .read_advance(1'b1), .read_address, .read_data, .write_enable, .write_address, .write_data);
  initial forever #1 clock = !clock;

  logic [31:0] old_words [0:4095];
  int cycles, value, place;

  // The shift is 1: a half, away from zero.
  function automatic int level(input int accumulator);
    int magnitude;
    magnitude = ((accumulator < 0 ? -accumulator : accumulator) * 32'(multiplier) + 1) / 2;
    if (magnitude > 127) magnitude = 127;
    level = accumulator >= 0 ? magnitude : relu ? 0 : -magnitude;
  endfunction

  task automatic requantize;
    for (int i = 0; i < 4096; i = i + 1) old_words[i] = pad.words[i];
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    cycles = 0;
    while (busy && cycles < 5000) begin
      cycles = cycles + 1;
      if (done !== (cycles == 32'(len) + 2)) faults = faults + 1;
      @(negedge clock);
    end
    for (int i = 0; i < 4096; i = i + 1) begin
      place = i - 32'(dst);
      value = old_words[i];
      if (place >= 0 && place < 32'(len)) value = level(old_words[32'(src)+place]);
      if (pad.words[i] !== value || cycles !== 32'(len) + 2) begin
        faults = faults + 1;
        $display("requantize_unit: word %0d is %0d instead of %0d, %0d cycles for %0d", i, $signed(pad.words[i]), value,
                 cycles, len);
      end
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    shift = 6'd1;
    for (int i = 0; i < 8; i = i + 1) begin
      for (int k = 0; k < 4096; k = k + 1) pad.words[k] = $urandom % 400 - 200;
      multiplier = i[0] ? 24'd1 : 24'd3;
      relu = i[1];
      len = i == 0 ? 13'd1 : 13'(1 + $urandom % 300);
      src = 12'($urandom % 2000);
      dst = i % 3 == 0 ? src : 12'(2300 + $urandom % 1400);
      requantize;
    end
    len = 13'd4096;
    src = '0;
    dst = '0;
    requantize;
    finished = 1'b1;
  end
endmodule
