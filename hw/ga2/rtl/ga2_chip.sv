// The GA-2 chip: sequencer, decoder, scratchpad, the units and the counters. One unit works at a time, and has the
// scratchpad's two ports while it does. Outside are the program memory, which gives the instruction at
// `program_address` one cycle later, and external memory.
module ga2_chip (
    input  logic         clock,
    input  logic         reset,
    input  logic         start,
    output logic         halted,
    output logic         error,           // it stopped at an instruction that is not legal
    // Program memory
    output logic [15:0]  program_address,
    input  logic [127:0] instruction,
    // External memory: a request is taken in a cycle in which `ready` is 1; reads are answered in order.
    output logic         request,
    output logic         request_write,
    output logic [23:0]  request_address,
    output logic [31:0]  request_data,
    input  logic         ready,
    input  logic         reply,
    input  logic [31:0]  reply_data,
    // Counters
    output logic [63:0]  count_total,
    output logic [63:0]  count_matrix,
    output logic [63:0]  count_transfer,
    output logic [63:0]  count_vector,
    output logic [63:0]  count_instructions
);
  // Fields of the instruction
  logic [3:0] opcode;
  logic [11:0] first;
  logic [11:0] second;
  logic [11:0] third;
  logic [23:0] external;
  logic [12:0] len;
  logic [2:0] rows;
  logic [6:0] inner;
  logic [2:0] columns;
  logic transposed;
  logic [11:0] lda;
  logic [11:0] ldb;
  logic [11:0] ldc;
  logic [23:0] multiplier;
  logic [5:0] shift;
  logic relu;
  logic legal;
  decoder fields (.instruction, .opcode, .first, .second, .third, .external, .len, .rows, .inner, .columns,
                  .transposed, .lda, .ldb, .ldc, .multiplier, .shift, .relu, .legal);

  logic dispatch;
  logic running;
  logic dma_busy, matrix_busy, requantize_busy, softmax_busy, vector_busy;
  logic dma_done, matrix_done, requantize_done, softmax_done, vector_done;
  sequencer control (.clock, .reset, .start, .opcode, .legal,
                     .unit_done(dma_done || matrix_done || requantize_done || softmax_done || vector_done),
                     .program_counter(program_address), .dispatch, .running, .halted, .error);

  counters count (.clock, .reset, .running, .matrix_busy, .transfer_busy(dma_busy),
                  .vector_busy(requantize_busy || softmax_busy || vector_busy), .dispatch, .total(count_total),
                  .matrix(count_matrix), .transfer(count_transfer), .vector(count_vector),
                  .instructions(count_instructions));

  // Scratchpad
  logic read_advance;
  logic [11:0] read_address;
  logic [31:0] read_data;
  logic write_enable;
  logic [11:0] write_address;
  logic [31:0] write_data;
  scratchpad memory (.clock, .read_advance, .read_address, .read_data, .write_enable, .write_address, .write_data);

  // What each unit wants of it
  logic [11:0] dma_read, matrix_read, requantize_read, softmax_read, vector_read;
  logic dma_write, matrix_write, requantize_write, softmax_write, vector_write;
  logic [11:0] dma_write_address, matrix_write_address, requantize_write_address, softmax_write_address,
               vector_write_address;
  logic [31:0] dma_write_data, matrix_write_data, requantize_write_data, softmax_write_data, vector_write_data;

  dma transfer (.clock, .reset, .start_load(dispatch && opcode == ga2::LD),
                .start_store(dispatch && opcode == ga2::ST), .local_base(first), .external_base(external), .len,
                .busy(dma_busy), .done(dma_done), .request, .request_write, .request_address, .request_data, .ready,
                .reply, .reply_data, .read_advance, .read_address(dma_read), .read_data, .write_enable(dma_write),
                .write_address(dma_write_address), .write_data(dma_write_data));

  matrix_unit matrix (.clock, .reset, .start(dispatch && opcode == ga2::MM), .dst(first), .a(second), .b(third),
                      .rows, .inner, .columns, .transposed, .lda, .ldb, .ldc,
                      .busy(matrix_busy), .done(matrix_done), .read_address(matrix_read), .read_value(read_data[7:0]),
                      .write_enable(matrix_write), .write_address(matrix_write_address),
                      .write_data(matrix_write_data));

  requantize_unit requantize (.clock, .reset, .start(dispatch && opcode == ga2::RQ), .dst(first), .src(second), .len,
                              .multiplier, .shift, .relu, .busy(requantize_busy), .done(requantize_done),
                              .read_address(requantize_read), .read_data, .write_enable(requantize_write),
                              .write_address(requantize_write_address), .write_data(requantize_write_data));

  softmax_unit softmax (.clock, .reset, .start(dispatch && opcode == ga2::SM), .dst(first), .src(second), .len,
                        .busy(softmax_busy), .done(softmax_done), .read_address(softmax_read),
                        .read_value(read_data[7:0]), .write_enable(softmax_write),
                        .write_address(softmax_write_address), .write_data(softmax_write_data));

  vector_unit vector (.clock, .reset, .start_add(dispatch && opcode == ga2::VADD),
                      .start_argmax(dispatch && opcode == ga2::AMAX),
                      .start_unpack(dispatch && opcode == ga2::UNPACK), .dst(first), .src1(second), .src2(third),
                      .len, .busy(vector_busy), .done(vector_done), .read_address(vector_read), .read_data,
                      .write_enable(vector_write), .write_address(vector_write_address),
                      .write_data(vector_write_data));

  always_comb begin
    case (opcode)
      ga2::MM: begin
        read_address = matrix_read;
        write_enable = matrix_write;
        write_address = matrix_write_address;
        write_data = matrix_write_data;
      end
      ga2::RQ: begin
        read_address = requantize_read;
        write_enable = requantize_write;
        write_address = requantize_write_address;
        write_data = requantize_write_data;
      end
      ga2::SM: begin
        read_address = softmax_read;
        write_enable = softmax_write;
        write_address = softmax_write_address;
        write_data = softmax_write_data;
      end
      ga2::VADD, ga2::AMAX, ga2::UNPACK: begin
        read_address = vector_read;
        write_enable = vector_write;
        write_address = vector_write_address;
        write_data = vector_write_data;
      end
      default: begin
        read_address = dma_read;
        write_enable = dma_write;
        write_address = dma_write_address;
        write_data = dma_write_data;
      end
    endcase
  end
endmodule
