// SM: the softmax of one row of int8 in sixteenths, as fractions of 65536. With w_i = T[max - x_i] of the exponent
// table and r = floor(2^38 / sum of w), fraction i is (w_i r + 2^21) >> 22.
//
//   MAXIMUM    len + 2 cycles   finds the maximum
//   SUM        len + 2          adds up the weights
//   DIVIDE     1 + 40           2^38 / sum, one bit a cycle
//   FRACTIONS  len + 2          the weights once more, times r
//
// The row is read three times, so the unit needs no memory of its own; the result may take the row's place.
module softmax_unit (
    input  logic        clock,
    input  logic        reset,
    input  logic        start,
    input  logic [11:0] dst,
    input  logic [11:0] src,
    input  logic [12:0] len,
    output logic        busy,
    output logic        done,
    output logic [11:0] read_address,
    input  logic [7:0]  read_value,
    output logic        write_enable,
    output logic [11:0] write_address,
    output logic [31:0] write_data
);
  typedef enum logic [2:0] {IDLE, MAXIMUM, SUM, DIVIDE, FRACTIONS} state_t;
  state_t state;

  logic walk_start;
  logic [11:0] index;
  logic arrived;
  logic [11:0] arrived_index;
  logic arrived_last;

  logic signed [7:0] value;
  logic signed [7:0] maximum;
  logic [7:0] distance;
  logic [15:0] weight;
  logic [27:0] sum;  // 4096 weights of 16 bits
  logic divide;
  logic divided;
  logic [39:0] quotient;
  logic [39:0] scaled;  // below 2^39

  row_walk walk (.clock, .reset, .start(walk_start), .advance(1'b1), .count(len), .index, .arrived, .arrived_index,
                 .arrived_last);
  assign read_address = src + index;

  assign value = read_value;
  assign distance = maximum - value;  // 0 to 255, unsigned
  exponent_table table_of_weights (.distance, .weight);
  divider reciprocal (.clock, .reset, .start(divide), .dividend(40'd1 << 38), .divisor({12'd0, sum}),
                      .done(divided), .quotient);

  // The sum is complete in the first cycle of DIVIDE.
  logic dividing;
  assign divide = state == DIVIDE && !dividing;

  always_comb begin
    case (state)
      IDLE: walk_start = start;
      MAXIMUM: walk_start = arrived_last;
      DIVIDE: walk_start = divided;
      default: walk_start = 1'b0;
    endcase
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= IDLE;
    end else begin
      case (state)
        IDLE: if (start) state <= MAXIMUM;
        MAXIMUM: if (arrived_last) state <= SUM;
        SUM: if (arrived_last) state <= DIVIDE;
        DIVIDE: if (divided) state <= FRACTIONS;
        FRACTIONS: if (arrived_last) state <= IDLE;
        default: state <= IDLE;
      endcase
    end
    dividing <= state == DIVIDE;
    if (state == IDLE) begin
      maximum <= -8'sd128;
      sum <= '0;
    end else if (arrived) begin
      if (state == MAXIMUM && value > maximum) maximum <= value;
      if (state == SUM) sum <= sum + {12'd0, weight};
    end
  end

  assign scaled = {24'd0, weight} * quotient + (40'd1 << 21);
  assign busy = state != IDLE;
  assign done = state == FRACTIONS && arrived_last;
  assign write_enable = state == FRACTIONS && arrived;
  assign write_address = dst + arrived_index;
  assign write_data = 32'(scaled >> 22);
endmodule
