// The five counters, since the last reset: all cycles, the busy cycles of the matrix unit, of the DMA, and of the
// other units together, and the instructions that were started.
module counters (
    input  logic        clock,
    input  logic        reset,
    input  logic        running,
    input  logic        matrix_busy,
    input  logic        transfer_busy,
    input  logic        vector_busy,
    input  logic        dispatch,
    output logic [63:0] total,
    output logic [63:0] matrix,
    output logic [63:0] transfer,
    output logic [63:0] vector,
    output logic [63:0] instructions
);
  always_ff @(posedge clock) begin
    if (reset) begin
      total <= '0;
      matrix <= '0;
      transfer <= '0;
      vector <= '0;
      instructions <= '0;
    end else begin
      if (running) total <= total + 1'b1;
      if (matrix_busy) matrix <= matrix + 1'b1;
      if (transfer_busy) transfer <= transfer + 1'b1;
      if (vector_busy) vector <= vector + 1'b1;
      if (dispatch) instructions <= instructions + 1'b1;
    end
  end
endmodule
