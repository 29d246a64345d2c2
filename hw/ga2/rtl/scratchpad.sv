// 4096 words of 32 bits, one read and one write in each cycle. A read takes two cycles: a word asked for in cycle t
// stands in the array's own register in t + 1 and in the output register in t + 2. Every unit's pipeline follows
// from that. With `read_advance` at 0 both registers keep what they hold.
module scratchpad (
    input  logic        clock,
    input  logic        read_advance,
    input  logic [11:0] read_address,
    output logic [31:0] read_data,
    input  logic        write_enable,
    input  logic [11:0] write_address,
    input  logic [31:0] write_data
);
  logic [31:0] words [0:4095];
  logic [31:0] fetched;

  always_ff @(posedge clock) begin
    if (write_enable) words[write_address] <= write_data;
    if (read_advance) begin
      fetched <= words[read_address];
      read_data <= fetched;
    end
  end
endmodule
