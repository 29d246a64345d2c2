// Cuts an instruction into its fields. They stand below the opcode in printed order without gaps, and zeros below
// them, so one field's bits belong to another field in another instruction: a unit reads only those that it has.
module decoder (
    input  logic [127:0] instruction,
    output logic [3:0]   opcode,
    output logic [11:0]  first,     // dst; src of ST
    output logic [11:0]  second,    // src, src1, A
    output logic [11:0]  third,     // src2, B
    output logic [23:0]  external,  // src of LD, dst of ST
    output logic [12:0]  len,
    output logic [2:0]   rows,      // M
    output logic [6:0]   inner,     // K
    output logic [2:0]   columns,   // N
    output logic         transposed,
    output logic [11:0]  lda,       // of 13 bits; one that needs the highest leaves the scratchpad anyway
    output logic [11:0]  ldb,
    output logic [11:0]  ldc,
    output logic [23:0]  multiplier,
    output logic [5:0]   shift,
    output logic         relu,
    output logic         legal      // the opcode exists, counts are in their range, zeros stand where they must
);
  assign opcode = instruction[127:124];
  assign first = instruction[123:112];
  assign second = instruction[111:100];
  assign third = instruction[99:88];
  assign external = instruction[111:88];

  assign rows = instruction[87:85];
  assign inner = instruction[84:78];
  assign columns = instruction[77:75];
  assign transposed = instruction[74];
  assign lda = instruction[72:61];
  assign ldb = instruction[59:48];
  assign ldc = instruction[46:35];

  assign multiplier = instruction[86:63];
  assign shift = instruction[62:57];
  assign relu = instruction[56];

  // After two addresses, or after three (an external address is as wide as two).
  logic after_three;
  assign after_three = opcode == ga2::LD || opcode == ga2::ST || opcode == ga2::VADD;
  assign len = after_three ? instruction[87:75] : instruction[99:87];

  logic len_fits;
  assign len_fits = len >= 13'd1 && len <= 13'd4096;
  logic shape_fits;
  assign shape_fits = rows >= 3'd1 && rows <= 3'd4 && columns >= 3'd1 && columns <= 3'd4 &&
                      inner >= 7'd1 && inner <= 7'd64;

  // Whether zeros stand below the fields.
  logic none, below_three, below_product, below_requantize, below_two;
  assign none = instruction[123:0] == '0;
  assign below_three = instruction[74:0] == '0;
  assign below_product = instruction[34:0] == '0;
  assign below_requantize = instruction[55:0] == '0;
  assign below_two = instruction[86:0] == '0;

  always_comb begin
    case (opcode)
      ga2::HALT: legal = none;
      ga2::LD, ga2::ST, ga2::VADD: legal = len_fits && below_three;
      ga2::MM: legal = shape_fits && below_product;
      ga2::RQ: legal = len_fits && below_requantize;
      ga2::SM, ga2::AMAX, ga2::UNPACK: legal = len_fits && below_two;
      default: legal = 1'b0;
    endcase
  end
endmodule
