// VADD, AMAX and UNPACK. All read through one walk over the scratchpad.
//
//   VADD    2 len + 2 cycles   the walk takes a word of src1, one of src2, and so on; each second one gives a sum
//   AMAX    len + 3            keeps the best value and its index; one cycle more to write the index
//   UNPACK  9 len + 2          a walk of one word, whose eight values then leave one a cycle; the next word's walk
//                              begins while the last three of them leave
module vector_unit (
    input  logic        clock,
    input  logic        reset,
    input  logic        start_add,
    input  logic        start_argmax,
    input  logic        start_unpack,
    input  logic [11:0] dst,
    input  logic [11:0] src1,
    input  logic [11:0] src2,
    input  logic [12:0] len,
    output logic        busy,
    output logic        done,
    output logic [11:0] read_address,
    input  logic [31:0] read_data,
    output logic        write_enable,
    output logic [11:0] write_address,
    output logic [31:0] write_data
);
  typedef enum logic [1:0] {IDLE, ADD, ARGMAX, UNPACK} state_t;
  state_t state;

  logic walk_start;
  logic [13:0] count;
  logic [12:0] index;
  logic arrived;
  logic [12:0] arrived_index;
  logic arrived_last;
  logic signed [7:0] value;

  always_comb begin
    case (state)
      ADD: count = {len, 1'b0};
      UNPACK: count = 14'd1;
      default: count = {1'b0, len};
    endcase
  end
  row_walk #(.BITS(14)) walk (.clock, .reset, .start(walk_start), .advance(1'b1), .count, .index, .arrived,
                              .arrived_index, .arrived_last);
  assign value = read_data[7:0];

  // VADD
  logic signed [7:0] addend;
  logic signed [8:0] sum;
  logic signed [8:0] clamped;
  logic sum_arrived;
  logic [11:0] sum_address;
  assign sum = addend + value;
  always_comb begin
    if (sum > 9'sd127) clamped = 9'sd127;
    else if (sum < -9'sd127) clamped = -9'sd127;
    else clamped = sum;
  end
  assign sum_arrived = arrived && arrived_index[0];
  assign sum_address = dst + arrived_index[12:1];

  // AMAX
  logic signed [7:0] best;
  logic [11:0] best_index;
  logic found;  // the row is through

  // UNPACK
  logic [31:0] packed_values;
  logic [3:0] values_left;  // of the word
  logic [12:0] word;        // that the walk fetches
  logic [11:0] unpacked;    // values written
  logic [31:0] unpacked_value;
  logic next_word;
  logic last_unpacked;
  assign unpacked_value = {{28{packed_values[3]}}, packed_values[3:0]};
  assign last_unpacked = values_left != '0 && unpacked == {len[8:0], 3'd0} - 1'b1;
  assign next_word = values_left == 4'd3 && word != len - 1'b1;

  assign walk_start = start_add || start_argmax || start_unpack || next_word;
  logic [11:0] add_address;
  assign add_address = (index[0] ? src2 : src1) + index[12:1];
  logic [11:0] row_address;
  assign row_address = src1 + index[11:0];
  logic [11:0] packed_address;
  assign packed_address = src1 + word[11:0];
  always_comb begin
    case (state)
      ADD: read_address = add_address;
      UNPACK: read_address = packed_address;
      default: read_address = row_address;
    endcase
  end

  always_comb begin
    case (state)
      ADD: begin
        write_enable = sum_arrived;
        write_address = sum_address;
        write_data = 32'(clamped);
        done = arrived_last;
      end
      ARGMAX: begin
        write_enable = found;
        write_address = dst;
        write_data = {20'd0, best_index};
        done = found;
      end
      UNPACK: begin
        write_enable = values_left != '0;
        write_address = dst + unpacked;
        write_data = unpacked_value;
        done = last_unpacked;
      end
      default: begin
        write_enable = 1'b0;
        write_address = '0;
        write_data = '0;
        done = 1'b0;
      end
    endcase
  end
  assign busy = state != IDLE;

  always_ff @(posedge clock) begin
    if (reset) state <= IDLE;
    else if (start_add) state <= ADD;
    else if (start_argmax) state <= ARGMAX;
    else if (start_unpack) state <= UNPACK;
    else if (done) state <= IDLE;

    if (arrived && !arrived_index[0]) addend <= value;

    // The first value always counts, so that a row of the least value has an index.
    if (arrived && (arrived_index == '0 || value > best)) begin
      best <= value;
      best_index <= arrived_index[11:0];
    end
    found <= state == ARGMAX && arrived_last;

    if (state != UNPACK) begin
      values_left <= '0;
      word <= '0;
      unpacked <= '0;
    end else if (arrived) begin
      packed_values <= read_data;
      values_left <= 4'd8;
    end else if (values_left != '0) begin
      packed_values <= packed_values >> 4;
      values_left <= values_left - 1'b1;
      unpacked <= unpacked + 1'b1;
      if (next_word) word <= word + 1'b1;
    end
  end
endmodule
