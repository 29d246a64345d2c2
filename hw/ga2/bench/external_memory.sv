// External memory for benches: a request that is taken in cycle t is answered in cycle t + LATENCY, in order. With a
// `stall_seed` other than 0 it refuses requests and holds answers back in random cycles. Not for synthesis.
module external_memory #(
    parameter int WORDS = 8192,
    parameter int LATENCY = 8
) (
    input  logic        clock,
    input  logic        reset,
    input  logic [31:0] size,      // words that may be asked for
    input  logic [31:0] stall_seed,
    input  logic        request,
    input  logic        request_write,
    input  logic [23:0] request_address,
    input  logic [31:0] request_data,
    output logic        ready,
    output logic        reply,
    output logic [31:0] reply_data,
    output logic        outside    // an address beyond them was asked for
);
  logic [31:0] words [0:WORDS-1];

  // Xorshift of 32 bits, the same numbers in every simulator.
  logic [31:0] random;
  function automatic logic [31:0] next_random(input logic [31:0] last);
    logic [31:0] x;
    x = last ^ (last << 13);
    x = x ^ (x >> 17);
    next_random = x ^ (x << 5);
  endfunction

  logic frozen;   // answers do not move
  logic refuses;
  assign frozen = stall_seed != 0 && random[5:4] == 2'd0;
  assign refuses = stall_seed != 0 && random[9:8] == 2'd0;

  // Answers on their way, in a ring: what is put at a place comes out when the ring has turned once.
  logic [LATENCY-1:0] is_answer;
  logic [31:0] answers [0:LATENCY-1];
  int place;
  logic takes;
  logic fits;
  logic [$clog2(WORDS)-1:0] index;
  assign ready = !frozen && !refuses;
  assign takes = request && ready;
  assign fits = 32'(request_address) < size;
  assign index = request_address[$clog2(WORDS)-1:0];
  assign reply = is_answer[place] && !frozen;
  assign reply_data = answers[place];

  always_ff @(posedge clock) begin
    if (reset) begin
      is_answer <= '0;
      place <= 0;
      outside <= 1'b0;
      random <= stall_seed;
    end else begin
      if (stall_seed != 0) random <= next_random(random);
      if (takes && !fits) outside <= 1'b1;
      if (takes && fits && request_write) words[index] <= request_data;
      if (!frozen) begin
        is_answer[place] <= takes && !request_write;
        if (takes) answers[place] <= words[index];
        place <= place == LATENCY - 1 ? 0 : place + 1;
      end
    end
  end
endmodule
