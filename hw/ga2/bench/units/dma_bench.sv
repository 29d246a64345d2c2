// Loads and stores with a memory of a given latency, with and without stalls: every word arrives, and no other is
// touched; a load takes len + LATENCY + 1 cycles and a store len + 2 where nothing stalls, more where it does.
module dma_bench #(
    parameter int LATENCY = 8
) (
    output logic        finished,
    output logic [31:0] faults
);
  localparam int WORDS = 1024;

  logic clock = 1'b0;
  logic reset = 1'b1;
  logic start_load = 1'b0, start_store = 1'b0;
  logic [11:0] local_base = '0;
  logic [23:0] external_base = '0;
  logic [12:0] len = 13'd1;
  logic busy, done;
  logic request, request_write, ready, reply, outside;
  logic [23:0] request_address;
  logic [31:0] request_data, reply_data;
  logic read_advance, write_enable;
  logic [11:0] read_address, write_address;
  logic [31:0] read_data, write_data;
  logic [31:0] stall_seed = '0;
  dma unit (.clock, .reset, .start_load, .start_store, .local_base, .external_base, .len, .busy, .done, .request,
            .request_write, .request_address, .request_data, .ready, .reply, .reply_data, .read_advance, .read_address,
            .read_data, .write_enable, .write_address, .write_data);
  scratchpad pad (.clock, .read_advance, .read_address, .read_data, .write_enable, .write_address, .write_data);
  external_memory #(.WORDS(WORDS), .LATENCY(LATENCY)) memory (
      .clock, .reset, .size(WORDS), .stall_seed, .request, .request_write, .request_address, .request_data, .ready,
      .reply, .reply_data, .outside);
  initial forever #1 clock = !clock;

  logic [31:0] pad_before [0:4095];
  logic [31:0] memory_before [0:WORDS-1];
  int cycles, wanted, place;
  logic loads;

  task automatic transfer;
    for (int i = 0; i < 4096; i = i + 1) pad_before[i] = pad.words[i];
    for (int i = 0; i < WORDS; i = i + 1) memory_before[i] = memory.words[i];
    if (loads) start_load = 1'b1;
    else start_store = 1'b1;
    @(negedge clock);
    start_load = 1'b0;
    start_store = 1'b0;
    cycles = 0;
    while (busy && cycles < 20000) begin
      cycles = cycles + 1;
      if (stall_seed == 0 && done !== (cycles == wanted)) faults = faults + 1;
      @(negedge clock);
    end
    if (stall_seed == 0 ? cycles !== wanted : cycles < wanted) begin
      faults = faults + 1;
      $display("dma: %0d cycles instead of %0d for %0d words, latency %0d", cycles, wanted, len, LATENCY);
    end
    @(negedge clock);
    for (int i = 0; i < 4096; i = i + 1) begin
      place = i - 32'(local_base);
      if (pad.words[i] !== (loads && place >= 0 && place < 32'(len) ? memory_before[32'(external_base)+place]
                                                                   : pad_before[i])) begin
        faults = faults + 1;
        $display("dma: scratchpad word %0d is %h", i, pad.words[i]);
      end
    end
    for (int i = 0; i < WORDS; i = i + 1) begin
      place = i - 32'(external_base);
      if (memory.words[i] !== (!loads && place >= 0 && place < 32'(len) ? pad_before[32'(local_base)+place]
                                                                       : memory_before[i])) begin
        faults = faults + 1;
        $display("dma: external word %0d is %h", i, memory.words[i]);
      end
    end
    if (outside) faults = faults + 1;
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    for (int i = 0; i < 4096; i = i + 1) pad.words[i] = $urandom;
    for (int i = 0; i < WORDS; i = i + 1) memory.words[i] = $urandom;
    for (int i = 0; i < 16; i = i + 1) begin
      reset = 1'b1;
      stall_seed = i < 8 ? 0 : $urandom | 1;
      @(negedge clock);
      reset = 1'b0;
      case (i % 4)
        0: len = 13'd1;
        1: len = 13'(WORDS);
        default: len = 13'(1 + $urandom % 100);
      endcase
      local_base = 12'($urandom % (4097 - 32'(len)));
      external_base = 24'($urandom % (WORDS + 1 - 32'(len)));
      loads = 1'b1;
      wanted = 32'(len) + LATENCY + 1;
      transfer;
      local_base = 12'($urandom % (4097 - 32'(len)));
      external_base = 24'($urandom % (WORDS + 1 - 32'(len)));
      loads = 1'b0;
      wanted = 32'(len) + 2;
      transfer;
    end
    finished = 1'b1;
  end
endmodule
