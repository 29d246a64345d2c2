// Constants of the GA-2 chip: the most terms of a sum, and the opcodes in the top four bits of an instruction.
package ga2;
  localparam int MOST_INNER = 64;  // terms of each sum of a product

  localparam logic [3:0] HALT = 4'd0;
  localparam logic [3:0] LD = 4'd1;
  localparam logic [3:0] ST = 4'd2;
  localparam logic [3:0] MM = 4'd3;
  localparam logic [3:0] RQ = 4'd4;
  localparam logic [3:0] SM = 4'd5;
  localparam logic [3:0] VADD = 4'd6;
  localparam logic [3:0] AMAX = 4'd7;
  localparam logic [3:0] UNPACK = 4'd8;
endpackage
