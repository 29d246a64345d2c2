// Every entry against the formula, and against exponent_table.txt of the vectors.
module exponent_table_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic [7:0] distance = '0;
  logic [15:0] weight;
  exponent_table unit (.distance, .weight);

  string folder;
  int file, got, listed;
  int formula;

  initial begin
    finished = 1'b0;
    faults = 0;
    if (!$value$plusargs("vectors=%s", folder)) $fatal(1, "+vectors is missing");
    file = $fopen({folder, "/exponent_table.txt"}, "r");
    if (file == 0) $fatal(1, "no exponent_table.txt");
    for (int i = 0; i < 256; i = i + 1) begin
      distance = i[7:0];
      #1;
      formula = $rtoi(65535.0 * $exp(-1.0 * i / 16.0) + 0.5);
      got = $fscanf(file, "%d\n", listed);
      if (got !== 1 || 32'(weight) !== listed || 32'(weight) !== formula) begin
        faults = faults + 1;
        $display("exponent_table: %0d at %0d, listed %0d, formula %0d", weight, i, listed, formula);
      end
    end
    $fclose(file);
    finished = 1'b1;
  end
endmodule
