// Runs a program: fetch, dispatch, wait until the unit is done, next. An instruction stands on `instruction` from the
// cycle after its fetch until its unit is done, because `program_counter` does not move until then.
//
//   FETCH     1 cycle   the program memory reads
//   DISPATCH  1         the decoder's fields are there; the opcode's unit is started
//   WORK                the unit's busy cycles
//
// HALT ends in DISPATCH, after its two cycles. So does an instruction that is not legal, with `error` at 1.
module sequencer (
    input  logic        clock,
    input  logic        reset,
    input  logic        start,
    input  logic [3:0]  opcode,
    input  logic        legal,
    input  logic        unit_done,
    output logic [15:0] program_counter,
    output logic        dispatch,  // the instruction's unit starts
    output logic        running,
    output logic        halted,
    output logic        error
);
  typedef enum logic [1:0] {STOPPED, FETCH, DISPATCH, WORK} state_t;
  state_t state;

  assign dispatch = state == DISPATCH && legal && opcode != ga2::HALT;
  assign running = state != STOPPED;

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= STOPPED;
      program_counter <= '0;
      halted <= 1'b0;
      error <= 1'b0;
    end else begin
      case (state)
        STOPPED: begin
          if (start) begin
            state <= FETCH;
            program_counter <= '0;
            halted <= 1'b0;
            error <= 1'b0;
          end
        end
        FETCH: state <= DISPATCH;
        DISPATCH: begin
          if (dispatch) begin
            state <= WORK;
          end else begin
            state <= STOPPED;
            halted <= 1'b1;
            error <= !legal;
          end
        end
        WORK: begin
          if (unit_done) begin
            state <= FETCH;
            program_counter <= program_counter + 1'b1;
          end
        end
        default: state <= STOPPED;
      endcase
    end
  end
endmodule
