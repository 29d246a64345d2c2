// Prints the instructions of decoder.hex of the vectors as a listing, into +listing=FILE, for comparison with the one
// they were made from; the refusals are those of refused.hex.
module decoder_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic [127:0] instruction = '0;
  logic [3:0] opcode;
  logic [11:0] first, second, third;
  logic [23:0] external;
  logic [12:0] len;
  logic [2:0] rows, columns;
  logic [6:0] inner;
  logic transposed;
  logic [11:0] lda, ldb, ldc;
  logic [23:0] multiplier;
  logic [5:0] shift;
  logic relu;
  logic legal;
  decoder unit (.instruction, .opcode, .first, .second, .third, .external, .len, .rows, .inner, .columns, .transposed,
                .lda, .ldb, .ldc, .multiplier, .shift, .relu, .legal);

  string folder, name;
  int file, listing, got;
  logic [127:0] words;

  task automatic print;
    case (opcode)
      ga2::HALT: $fdisplay(listing, "HALT");
      ga2::LD: $fdisplay(listing, "LD   dst=%0d src=%0d len=%0d", first, external, len);
      ga2::ST: $fdisplay(listing, "ST   src=%0d dst=%0d len=%0d", first, external, len);
      ga2::MM: $fdisplay(listing, "MM   dst=%0d A=%0d B=%0d M=%0d K=%0d N=%0d tb=%0d lda=%0d ldb=%0d ldc=%0d", first,
                         second, third, rows, inner, columns, transposed, lda, ldb, ldc);
      ga2::RQ: $fdisplay(listing, "RQ   dst=%0d src=%0d len=%0d m=%0d s=%0d relu=%0d", first, second, len, multiplier,
                         shift, relu);
      ga2::SM: $fdisplay(listing, "SM   dst=%0d src=%0d len=%0d", first, second, len);
      ga2::VADD: $fdisplay(listing, "VADD dst=%0d src1=%0d src2=%0d len=%0d", first, second, third, len);
      ga2::AMAX: $fdisplay(listing, "AMAX dst=%0d src=%0d len=%0d", first, second, len);
      ga2::UNPACK: $fdisplay(listing, "UNPACK dst=%0d src=%0d len=%0d", first, second, len);
      default: $fdisplay(listing, "no instruction");
    endcase
  endtask

  task automatic check_file(input string which, input logic wanted, input int least);
    int lines;
    lines = 0;
    file = $fopen({folder, "/", which}, "r");
    if (file == 0) $fatal(1, "vectors are missing");
    got = $fscanf(file, "%h\n", words);
    while (got == 1) begin
      instruction = words;
      #1;
      lines = lines + 1;
      if (legal !== wanted) begin
        faults = faults + 1;
        $display("decoder: %h, legal %0d", instruction, legal);
      end
      if (wanted) print;
      got = $fscanf(file, "%h\n", words);
    end
    $fclose(file);
    if (lines < least) faults = faults + 1;
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    if (!$value$plusargs("vectors=%s", folder)) $fatal(1, "+vectors is missing");
    if (!$value$plusargs("listing=%s", name)) $fatal(1, "+listing is missing");
    listing = $fopen(name, "w");
    check_file("decoder.hex", 1'b1, 1000);
    check_file("refused.hex", 1'b0, 20);
    $fclose(listing);
    finished = 1'b1;
  end
endmodule
