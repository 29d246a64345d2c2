// Runs the benches of all modules side by side; prints what each finds, and at last how many faults there are.
module unit_benches;
  localparam int BENCHES = 19;
  logic [BENCHES-1:0] finished;
  logic [31:0] faults_counters;
  logic [31:0] faults_decoder;
  logic [31:0] faults_divider;
  logic [31:0] faults_dma_8;
  logic [31:0] faults_dma_1;
  logic [31:0] faults_dma_20;
  logic [31:0] faults_exponent_table;
  logic [31:0] faults_matrix_unit;
  logic [31:0] faults_matrix_walk;
  logic [31:0] faults_operand_lanes;
  logic [31:0] faults_processing_element;
  logic [31:0] faults_requantize_unit;
  logic [31:0] faults_requantizer;
  logic [31:0] faults_row_walk;
  logic [31:0] faults_scratchpad;
  logic [31:0] faults_sequencer;
  logic [31:0] faults_softmax_unit;
  logic [31:0] faults_systolic_array;
  logic [31:0] faults_vector_unit;

  counters_bench of_counters (.finished(finished[0]), .faults(faults_counters));
  decoder_bench of_decoder (.finished(finished[1]), .faults(faults_decoder));
  divider_bench of_divider (.finished(finished[2]), .faults(faults_divider));
  dma_bench #(.LATENCY(8)) of_dma_8 (.finished(finished[3]), .faults(faults_dma_8));
  dma_bench #(.LATENCY(1)) of_dma_1 (.finished(finished[4]), .faults(faults_dma_1));
  dma_bench #(.LATENCY(20)) of_dma_20 (.finished(finished[5]), .faults(faults_dma_20));
  exponent_table_bench of_exponent_table (.finished(finished[6]), .faults(faults_exponent_table));
  matrix_unit_bench of_matrix_unit (.finished(finished[7]), .faults(faults_matrix_unit));
  matrix_walk_bench of_matrix_walk (.finished(finished[8]), .faults(faults_matrix_walk));
  operand_lanes_bench of_operand_lanes (.finished(finished[9]), .faults(faults_operand_lanes));
  processing_element_bench of_processing_element (.finished(finished[10]), .faults(faults_processing_element));
  requantize_unit_bench of_requantize_unit (.finished(finished[11]), .faults(faults_requantize_unit));
  requantizer_bench of_requantizer (.finished(finished[12]), .faults(faults_requantizer));
  row_walk_bench of_row_walk (.finished(finished[13]), .faults(faults_row_walk));
  scratchpad_bench of_scratchpad (.finished(finished[14]), .faults(faults_scratchpad));
  sequencer_bench of_sequencer (.finished(finished[15]), .faults(faults_sequencer));
  softmax_unit_bench of_softmax_unit (.finished(finished[16]), .faults(faults_softmax_unit));
  systolic_array_bench of_systolic_array (.finished(finished[17]), .faults(faults_systolic_array));
  vector_unit_bench of_vector_unit (.finished(finished[18]), .faults(faults_vector_unit));

  initial begin
    #1;
    while (finished !== '1) #2;
    $display("bench counters %0d", faults_counters);
    $display("bench decoder %0d", faults_decoder);
    $display("bench divider %0d", faults_divider);
    $display("bench dma_8 %0d", faults_dma_8);
    $display("bench dma_1 %0d", faults_dma_1);
    $display("bench dma_20 %0d", faults_dma_20);
    $display("bench exponent_table %0d", faults_exponent_table);
    $display("bench matrix_unit %0d", faults_matrix_unit);
    $display("bench matrix_walk %0d", faults_matrix_walk);
    $display("bench operand_lanes %0d", faults_operand_lanes);
    $display("bench processing_element %0d", faults_processing_element);
    $display("bench requantize_unit %0d", faults_requantize_unit);
    $display("bench requantizer %0d", faults_requantizer);
    $display("bench row_walk %0d", faults_row_walk);
    $display("bench scratchpad %0d", faults_scratchpad);
    $display("bench sequencer %0d", faults_sequencer);
    $display("bench softmax_unit %0d", faults_softmax_unit);
    $display("bench systolic_array %0d", faults_systolic_array);
    $display("bench vector_unit %0d", faults_vector_unit);
    $finish;
  end
endmodule
