// A read takes two cycles, one in each; both registers stand still without `read_advance`; writes go on.
module scratchpad_bench (
    output logic        finished,
    output logic [31:0] faults
);
  logic clock = 1'b0;
  logic read_advance = 1'b1;
  logic [11:0] read_address = '0;
  logic [31:0] read_data;
  logic write_enable = 1'b0;
  logic [11:0] write_address = '0;
  logic [31:0] write_data = '0;
  scratchpad unit (.clock, .read_advance, .read_address, .read_data, .write_enable, .write_address, .write_data);
  initial forever #1 clock = !clock;

  function automatic logic [31:0] word_at(input logic [11:0] address);
    word_at = {address, 8'h5a, address} ^ 32'h1234567;
  endfunction

  task automatic check(input logic [31:0] wanted);
    if (read_data !== wanted) begin
      faults = faults + 1;
      $display("scratchpad: %h instead of %h", read_data, wanted);
    end
  endtask

  initial begin
    finished = 1'b0;
    faults = 0;
    write_enable = 1'b1;
    for (int i = 0; i < 4096; i = i + 1) begin
      write_address = i[11:0];
      write_data = word_at(i[11:0]);
      @(negedge clock);
    end
    write_enable = 1'b0;
    // One a cycle.
    for (int i = 0; i < 4098; i = i + 1) begin
      read_address = i[11:0];
      if (i >= 2) check(word_at(12'(i - 2)));
      @(negedge clock);
    end
    // 7 in the output register, 8 in the array's.
    read_address = 12'd7;
    @(negedge clock);
    read_address = 12'd8;
    @(negedge clock);
    check(word_at(12'd7));
    read_advance = 1'b0;
    read_address = 12'd9;
    write_enable = 1'b1;
    write_address = 12'd100;
    write_data = 32'd42;
    repeat (3) @(negedge clock);
    check(word_at(12'd7));
    write_enable = 1'b0;
    read_advance = 1'b1;
    read_address = 12'd100;
    @(negedge clock);
    check(word_at(12'd8));
    @(negedge clock);
    check(32'd42);
    finished = 1'b1;
  end
endmodule
