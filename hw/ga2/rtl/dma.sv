// LD and ST: words between external memory and the scratchpad.
//
// LD asks for a word in every cycle in which the memory is ready; the words come back in order, LAT cycles later,
// pass one register and are written: len + LAT + 1 cycles. ST reads the scratchpad, two cycles a word in a pipeline,
// and hands the words out: len + 2 cycles. A memory that is not ready makes either wait; ST's pipeline then stands
// still, with the scratchpad's read registers (`read_advance`).
module dma (
    input  logic        clock,
    input  logic        reset,
    input  logic        start_load,
    input  logic        start_store,
    input  logic [11:0] local_base,
    input  logic [23:0] external_base,
    input  logic [12:0] len,
    output logic        busy,
    output logic        done,           // in the last busy cycle
    // External memory: a request is taken in a cycle in which `ready` is 1; reads are answered in order.
    output logic        request,
    output logic        request_write,
    output logic [23:0] request_address,
    output logic [31:0] request_data,
    input  logic        ready,
    input  logic        reply,
    input  logic [31:0] reply_data,
    // Scratchpad
    output logic        read_advance,
    output logic [11:0] read_address,
    input  logic [31:0] read_data,
    output logic        write_enable,
    output logic [11:0] write_address,
    output logic [31:0] write_data
);
  logic loading;
  logic storing;
  logic [12:0] asked;
  logic [12:0] written;
  logic load_done;
  logic store_done;

  logic [11:0] index;
  logic arrived;
  logic [11:0] arrived_index;
  logic arrived_last;

  assign read_advance = !(arrived && !ready);
  row_walk walk (.clock, .reset, .start(start_store), .advance(read_advance), .count(len), .index, .arrived,
                 .arrived_index, .arrived_last);
  assign read_address = local_base + index;

  assign request = loading ? asked != len : arrived;
  assign request_write = !loading;
  assign request_address = external_base + {11'd0, loading ? asked : {1'b0, arrived_index}};
  assign request_data = read_data;

  assign write_address = local_base + written[11:0];
  assign load_done = write_enable && written == len - 1'b1;
  assign store_done = arrived_last && ready;
  assign done = load_done || store_done;
  assign busy = loading || storing;

  always_ff @(posedge clock) begin
    if (reset) begin
      loading <= 1'b0;
      storing <= 1'b0;
      write_enable <= 1'b0;
    end else begin
      if (start_load) loading <= 1'b1;
      else if (load_done) loading <= 1'b0;
      if (start_store) storing <= 1'b1;
      else if (store_done) storing <= 1'b0;
      write_enable <= reply;
    end
    write_data <= reply_data;
    if (start_load) begin
      asked <= '0;
      written <= '0;
    end else begin
      if (loading && request && ready) asked <= asked + 1'b1;
      if (write_enable) written <= written + 1'b1;
    end
  end
endmodule
