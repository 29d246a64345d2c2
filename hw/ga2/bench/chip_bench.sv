// Runs programs on the whole chip, one after the other, and writes down what each leaves behind.
//   +folder=DIR     holds for each case NAME/program.hex (128 bits a line) and NAME/external.hex (32 bits a line)
//   +cases=FILE     lines `NAME INSTRUCTIONS WORDS`: how many instructions, and words of external memory
//   +result=FILE    gets, a case: how it stopped and where, the five counters, and every word of both memories that is
//                   not 0
//   +stalls=SEED    the external memory stalls in random cycles; each case has its own
//   +limit=CYCLES   a case that takes longer is stopped (10 million)
//   +waves=FILE     writes a VCD
module chip_bench;
  localparam int PROGRAM_WORDS = 65536;
  localparam int EXTERNAL_WORDS = 8192;
  localparam int SCRATCHPAD_WORDS = 4096;

  string folder, name, file_name;
  int cases, result, got, instructions, words;
  int cycles, limit, seed, number;

  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start = 1'b0;
  logic halted;
  logic error;
  logic [15:0] program_address;
  logic [127:0] instruction;
  logic request, request_write, ready, reply, outside;
  logic [23:0] request_address;
  logic [31:0] request_data, reply_data;
  logic [63:0] count_total, count_matrix, count_transfer, count_vector, count_instructions;
  logic [31:0] stall_seed = 0;

  ga2_chip chip (.clock, .reset, .start, .halted, .error, .program_address, .instruction, .request, .request_write,
                 .request_address, .request_data, .ready, .reply, .reply_data, .count_total, .count_matrix,
                 .count_transfer, .count_vector, .count_instructions);
  external_memory #(.WORDS(EXTERNAL_WORDS)) external (
      .clock, .reset, .size(words), .stall_seed, .request, .request_write, .request_address, .request_data, .ready,
      .reply, .reply_data, .outside);

  logic [127:0] program_words [0:PROGRAM_WORDS-1];
  always_ff @(posedge clock) instruction <= program_words[program_address];

  initial forever #1 clock = !clock;

  initial begin
    if (!$value$plusargs("folder=%s", folder)) $fatal(1, "+folder is missing");
    if (!$value$plusargs("result=%s", file_name)) $fatal(1, "+result is missing");
    result = $fopen(file_name, "w");
    if (!$value$plusargs("cases=%s", file_name)) $fatal(1, "+cases is missing");
    cases = $fopen(file_name, "r");
    if (cases == 0) $fatal(1, "the list of cases cannot be read");
    if (!$value$plusargs("stalls=%d", seed)) seed = 0;
    if (!$value$plusargs("limit=%d", limit)) limit = 10000000;
    if ($value$plusargs("waves=%s", file_name)) begin
      $dumpfile(file_name);
      $dumpvars(0, chip_bench);
    end
    number = 0;
    got = $fscanf(cases, "%s %d %d\n", name, instructions, words);
    while (got == 3) begin
      run_case;
      number = number + 1;
      got = $fscanf(cases, "%s %d %d\n", name, instructions, words);
    end
    $fclose(result);
    $display("%0d programs", number);
    $finish;
  end

  task run_case;
    @(negedge clock);
    reset = 1'b1;
    stall_seed = seed == 0 ? 0 : seed * 7919 + number + 1;
    for (int i = 0; i < SCRATCHPAD_WORDS; i = i + 1) chip.memory.words[i] = 0;
    $readmemh({folder, "/", name, "/program.hex"}, program_words, 0, instructions - 1);
    if (words > 0) $readmemh({folder, "/", name, "/external.hex"}, external.words, 0, words - 1);
    @(negedge clock);
    reset = 1'b0;
    start = 1'b1;
    @(negedge clock);
    start = 1'b0;
    cycles = 0;
    while (!halted && cycles < limit) begin
      @(negedge clock);
      cycles = cycles + 1;
    end
    $fdisplay(result, "case %s", name);
    if (!halted) $fdisplay(result, "timeout at %0d", program_address);
    else if (outside) $fdisplay(result, "outside of external memory at %0d", program_address);
    else if (error) $fdisplay(result, "error at %0d", program_address);
    else $fdisplay(result, "halted at %0d", program_address);
    $fdisplay(result, "counters %0d %0d %0d %0d %0d", count_total, count_matrix, count_transfer, count_vector,
              count_instructions);
    for (int i = 0; i < SCRATCHPAD_WORDS; i = i + 1) begin
      if (chip.memory.words[i] !== 0) $fdisplay(result, "s %0d %h", i, chip.memory.words[i]);
    end
    for (int i = 0; i < words; i = i + 1) begin
      if (external.words[i] !== 0) $fdisplay(result, "e %0d %h", i, external.words[i]);
    end
  endtask
endmodule
