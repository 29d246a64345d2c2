// MM: the product of a tile of A (M x K) and a tile of B (K x N), int8 in, int32 out.
//
//   LOAD_A   M K + 2 cycles   the words of A, row by row, into the lanes of the rows
//   LOAD_B   K N + 2          the words of B as they lie in memory, into the lanes of the columns
//   CLEAR    1                the array's sums become 0
//   RUN      K + M + N        the lanes feed the array
//   WRITE    M N              the sums, row by row
//
// A transposed B lies column by column: its walk has N rows of K words instead of K rows of N, and lane and index
// change places. Rows and columns of the array beyond M and N compute something too; nobody reads it.
module matrix_unit (
    input  logic        clock,
    input  logic        reset,
    input  logic        start,
    input  logic [11:0] dst,
    input  logic [11:0] a,
    input  logic [11:0] b,
    input  logic [2:0]  rows,
    input  logic [6:0]  inner,
    input  logic [2:0]  columns,
    input  logic        transposed,
    input  logic [11:0] lda,
    input  logic [11:0] ldb,
    input  logic [11:0] ldc,
    output logic        busy,
    output logic        done,
    output logic [11:0] read_address,
    input  logic [7:0]  read_value,
    output logic        write_enable,
    output logic [11:0] write_address,
    output logic [31:0] write_data
);
  typedef enum logic [2:0] {IDLE, LOAD_A, LOAD_B, CLEAR, RUN, WRITE} state_t;
  state_t state;

  // One walk serves all three matrices; it starts in the last cycle of the phase before.
  logic walk_start;
  logic [11:0] walk_base;
  logic [11:0] walk_stride;
  logic [6:0] walk_rows;
  logic [6:0] walk_columns;
  logic walk_active;
  logic [11:0] walk_address;
  logic [5:0] row;
  logic [5:0] column;
  logic walk_last;

  // The walk's word, on its way through the scratchpad's two registers.
  logic fetched;
  logic [5:0] fetched_row;
  logic [5:0] fetched_column;
  logic fetched_last;
  logic arrived;
  logic [5:0] arrived_row;
  logic [5:0] arrived_column;
  logic arrived_last;

  logic [6:0] step;
  logic last_step;
  logic signed [7:0] a_edge_0, a_edge_1, a_edge_2, a_edge_3;
  logic signed [7:0] b_edge_0, b_edge_1, b_edge_2, b_edge_3;

  assign last_step = step == inner + {4'd0, rows} + {4'd0, columns} - 1'b1;
  assign done = state == WRITE && walk_last;
  assign busy = state != IDLE;

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= IDLE;
    end else begin
      case (state)
        IDLE: if (start) state <= LOAD_A;
        LOAD_A: if (arrived_last) state <= LOAD_B;
        LOAD_B: if (arrived_last) state <= CLEAR;
        CLEAR: state <= RUN;
        RUN: if (last_step) state <= WRITE;
        WRITE: if (walk_last) state <= IDLE;
        default: state <= IDLE;
      endcase
    end
    step <= state == RUN ? step + 1'b1 : '0;
  end

  // Where the next phase's walk begins.
  always_comb begin
    case (state)
      IDLE: begin
        walk_start = start;
        walk_base = a;
      end
      LOAD_A: begin
        walk_start = arrived_last;
        walk_base = b;
      end
      default: begin
        walk_start = state == RUN && last_step;
        walk_base = dst;
      end
    endcase
  end

  // What this phase walks over.
  always_comb begin
    case (state)
      LOAD_A: begin
        walk_stride = lda;
        walk_rows = {4'd0, rows};
        walk_columns = inner;
      end
      LOAD_B: begin
        walk_stride = ldb;
        walk_rows = transposed ? {4'd0, columns} : inner;
        walk_columns = transposed ? inner : {4'd0, columns};
      end
      default: begin
        walk_stride = ldc;
        walk_rows = {4'd0, rows};
        walk_columns = {4'd0, columns};
      end
    endcase
  end

  matrix_walk walk (.clock, .reset, .start(walk_start), .base(walk_base), .stride(walk_stride), .rows(walk_rows),
                    .columns(walk_columns), .active(walk_active), .address(walk_address), .row, .column,
                    .last(walk_last));
  assign read_address = walk_address;

  always_ff @(posedge clock) begin
    if (reset) begin
      fetched <= 1'b0;
      fetched_last <= 1'b0;
      arrived <= 1'b0;
      arrived_last <= 1'b0;
    end else begin
      fetched <= walk_active && state != WRITE;
      fetched_last <= walk_last && state != WRITE;
      arrived <= fetched;
      arrived_last <= fetched_last;
    end
    fetched_row <= row;
    fetched_column <= column;
    arrived_row <= fetched_row;
    arrived_column <= fetched_column;
  end

  logic a_write;
  logic b_write;
  logic [1:0] b_lane;
  logic [5:0] b_index;
  logic run;
  logic clear;
  assign a_write = arrived && state == LOAD_A;
  assign b_write = arrived && state == LOAD_B;
  assign b_lane = transposed ? arrived_row[1:0] : arrived_column[1:0];
  assign b_index = transposed ? arrived_column : arrived_row;
  assign run = state == RUN;
  assign clear = state == CLEAR;

  operand_lanes a_lanes (.clock, .write_enable(a_write), .write_lane(arrived_row[1:0]), .write_index(arrived_column),
                         .write_value(read_value), .run, .step, .inner, .value_0(a_edge_0),
                         .value_1(a_edge_1), .value_2(a_edge_2), .value_3(a_edge_3));
  operand_lanes b_lanes (.clock, .write_enable(b_write), .write_lane(b_lane), .write_index(b_index),
                         .write_value(read_value), .run, .step, .inner, .value_0(b_edge_0), .value_1(b_edge_1),
                         .value_2(b_edge_2), .value_3(b_edge_3));

  systolic_array array (.clock, .clear, .run, .a_edge_0, .a_edge_1, .a_edge_2, .a_edge_3, .b_edge_0, .b_edge_1,
                        .b_edge_2, .b_edge_3, .row(row[1:0]), .column(column[1:0]), .sum(write_data));

  assign write_enable = state == WRITE;
  assign write_address = walk_address;
endmodule
