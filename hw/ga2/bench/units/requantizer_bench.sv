// Values of requantizer.txt of the vectors (accumulator, multiplier, shift, relu, level a line), then random ones
// against a division with its remainder.
module requantizer_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic signed [31:0] accumulator = '0;
  logic [23:0] multiplier = '0;
  logic [5:0] shift = '0;
  logic relu = 1'b0;
  logic signed [7:0] level;
  requantizer unit (.accumulator, .multiplier, .shift, .relu, .level);

  string folder;
  int file, got, lines;
  int value, by, places, positive, expected;
  longint product, unit_size, quotient, rest;

  task automatic check(input int wanted);
    #1;
    if (32'(level) !== wanted) begin
      faults = faults + 1;
      $display("requantizer: %0d * %0d >> %0d, relu %0d: %0d instead of %0d", accumulator, multiplier, shift, relu,
               level, wanted);
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    lines = 0;
    if (!$value$plusargs("vectors=%s", folder)) $fatal(1, "+vectors is missing");
    file = $fopen({folder, "/requantizer.txt"}, "r");
    if (file == 0) $fatal(1, "no requantizer.txt");
    got = $fscanf(file, "%d %d %d %d %d\n", value, by, places, positive, expected);
    while (got == 5) begin
      accumulator = value;
      multiplier = by[23:0];
      shift = places[5:0];
      relu = positive[0];
      check(expected);
      lines = lines + 1;
      got = $fscanf(file, "%d %d %d %d %d\n", value, by, places, positive, expected);
    end
    $fclose(file);
    if (lines < 100) faults = faults + 1;

    for (int i = 0; i < 4000; i = i + 1) begin
      accumulator = $signed($urandom) >>> ($urandom % 32);
      multiplier = 24'($urandom) >> ($urandom % 24);
      shift = 6'($urandom % 63);
      relu = 1'($urandom);
      if (i % 16 == 0) accumulator = 32'h80000000;
      // Halves.
      if (i % 4 == 0) multiplier = 24'd1 << ($urandom % 24);
      if (i % 3 == 0) shift = 6'($urandom % 40);
      product = 64'(accumulator) * $signed({40'd0, multiplier});
      unit_size = 64'sd1 <<< shift;
      quotient = product / unit_size;
      rest = product % unit_size;
      if (rest < 0) rest = -rest;
      if (rest >= unit_size - rest) quotient = product < 0 ? quotient - 1 : quotient + 1;
      if (quotient > 127) quotient = 127;
      if (quotient < -127) quotient = -127;
      if (relu && quotient < 0) quotient = 0;
      check(quotient[31:0]);
    end
    // The largest product is below half of 2^63.
    accumulator = 32'h80000000;
    multiplier = '1;
    shift = 6'd63;
    relu = 1'b0;
    check(0);
    finished = 1'b1;
  end
endmodule
