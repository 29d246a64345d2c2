// Random rows for VADD, AMAX and UNPACK, VADD also in place: what they write, that they write nothing else, and the
// cycles.
module vector_unit_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start_add = 1'b0, start_argmax = 1'b0, start_unpack = 1'b0;
  logic [11:0] dst = '0, src1 = '0, src2 = '0;
  logic [12:0] len = 13'd1;
  logic busy, done, write_enable;
  logic [11:0] read_address, write_address;
  logic [31:0] read_data, write_data;
  vector_unit unit (.clock, .reset, .start_add, .start_argmax, .start_unpack, .dst, .src1, .src2, .len, .busy, .done,
                    .read_address, .read_data, .write_enable, .write_address, .write_data);
  scratchpad pad (.clock, .read_advance(1'b1), .read_address, .read_data, .write_enable, .write_address, .write_data);
  initial forever #1 clock = !clock;

  logic [31:0] expected [0:4095];
  int cycles, wanted, sum, best;

  function automatic int level(input int address);
    level = 32'($signed(pad.words[address][7:0]));
  endfunction

  task automatic run_it(input string what);
    @(negedge clock);
    start_add = 1'b0;
    start_argmax = 1'b0;
    start_unpack = 1'b0;
    cycles = 0;
    while (busy && cycles < 20000) begin
      cycles = cycles + 1;
      if (done !== (cycles == wanted)) faults = faults + 1;
      @(negedge clock);
    end
    if (cycles !== wanted) begin
      faults = faults + 1;
      $display("vector_unit: %0s of %0d takes %0d cycles instead of %0d", what, len, cycles, wanted);
    end
    for (int i = 0; i < 4096; i = i + 1) begin
      if (pad.words[i] !== expected[i]) begin
        faults = faults + 1;
        $display("vector_unit: %0s of %0d: word %0d is %h instead of %h", what, len, i, pad.words[i], expected[i]);
      end
    end
  endtask

  task automatic fill(input int spread);
    for (int i = 0; i < 4096; i = i + 1) begin
      pad.words[i] = {24'($urandom), 8'($urandom % spread)};
      expected[i] = pad.words[i];
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    repeat (2) @(negedge clock);
    reset = 1'b0;
    for (int round = 0; round < 12; round = round + 1) begin
      len = round == 0 ? 13'd1 : round == 1 ? 13'd2 : 13'(1 + $urandom % 120);
      src1 = 12'($urandom % 800);
      src2 = 12'(1000 + $urandom % 800);
      dst = 12'(2000 + $urandom % 1000);

      fill(256);
      if (round % 4 == 1) dst = src1;
      if (round % 4 == 2) dst = src2;
      if (round % 4 == 3) src2 = src1;
      if (round == 8) begin  // sums around both ends
        for (int i = 0; i < 32'(len); i = i + 1) begin
          pad.words[32'(src1)+i] = i % 2 == 0 ? -100 : 100;
          pad.words[32'(src2)+i] = i % 2 == 0 ? -26 - i % 8 : 24 + i % 8;
          expected[32'(src1)+i] = pad.words[32'(src1)+i];
          expected[32'(src2)+i] = pad.words[32'(src2)+i];
        end
      end
      for (int i = 0; i < 32'(len); i = i + 1) begin
        sum = level(32'(src1) + i) + level(32'(src2) + i);
        expected[32'(dst)+i] = sum > 127 ? 127 : sum < -127 ? -127 : sum;
      end
      wanted = 2 + 2 * 32'(len);
      start_add = 1'b1;
      run_it("VADD");

      // Few different values, so that the maximum occurs more than once.
      fill(round == 0 ? 256 : 8);
      if (round == 4) for (int i = 0; i < 32'(len); i = i + 1) pad.words[32'(src1)+i] = 32'h80;
      if (round == 4) for (int i = 0; i < 32'(len); i = i + 1) expected[32'(src1)+i] = 32'h80;
      dst = 12'd4095;
      best = 0;
      for (int i = 1; i < 32'(len); i = i + 1) begin
        if (level(32'(src1) + i) > level(32'(src1) + best)) best = i;
      end
      expected[4095] = best;
      wanted = 3 + 32'(len);
      start_argmax = 1'b1;
      run_it("AMAX");

      fill(256);
      dst = 12'(2000 + $urandom % 1000);
      if (round == 5) begin
        len = 13'd448;
        src1 = '0;
        dst = 12'd512;
      end
      for (int i = 0; i < 32'(len); i = i + 1) begin
        for (int j = 0; j < 8; j = j + 1) begin
          expected[32'(dst)+8*i+j] = 32'($signed(4'(pad.words[32'(src1)+i] >> (4 * j))));
        end
      end
      wanted = 2 + 9 * 32'(len);
      start_unpack = 1'b1;
      run_it("UNPACK");
    end
    finished = 1'b1;
  end
endmodule
