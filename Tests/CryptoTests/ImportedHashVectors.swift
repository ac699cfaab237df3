import Crypto
import Testing

/// A published hash with its source and inputs.
struct HashVector: Sendable, CustomTestStringConvertible {
  let source: String
  let parameters: HashParameters
  let password: [UInt8]
  let salt: [UInt8]
  let hash: [UInt8]

  var testDescription: String { source }

  init(
    _ source: String, _ algorithm: String, password: String, salt: String = "", hash: String,
    _ set: (inout HashParameters) -> Void = { _ in }
  ) {
    self.source = source
    var parameters = HashParameters()
    parameters.algorithm = algorithm
    set(&parameters)
    self.parameters = parameters
    self.password = Array(password.utf8)
    self.salt = Array(salt.utf8)
    self.hash = Hex.decode(Array(hash.utf8)) ?? Array(hash.utf8)
  }

  init(
    _ source: String, base64 hash: String, salt: String, password: String,
    _ parameters: HashParameters
  ) {
    self.source = source
    self.parameters = parameters
    self.password = Array(password.utf8)
    self.salt = Base64URL.decode(salt) ?? []
    self.hash = Base64URL.decode(hash) ?? []
  }
}

extension HashVector {
  static let all = keyed + plain + derived + scrypts + bcrypts + argons

  private static let what = ("what do ya want ", "for nothing?")
  private static let keyed: [HashVector] = [
    ("HMAC_MD5", "RFC 2202, MD5, 2", "750c783e6ab0b503eaa86e310a5db738"),
    ("HMAC_SHA1", "RFC 2202, SHA-1, 2", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    (
      "HMAC_SHA256", "RFC 4231, SHA-256, 2",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      "HMAC_SHA512", "RFC 4231, SHA-512, 2",
      "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
        + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
    ),
  ].flatMap { algorithm, source, hash in
    [
      HashVector(source, algorithm, password: what.0, salt: what.1, hash: hash) {
        $0.signerKey = Array("Jefe".utf8)
      },
      HashVector("\(source), salt first", algorithm, password: what.1, salt: what.0, hash: hash) {
        $0.signerKey = Array("Jefe".utf8)
        $0.order = .saltFirst
      },
    ]
  }

  private static let abc = [
    ("MD5", "900150983cd24fb0d6963f7d28e17f72", "8f354f270114bc87029306db6b405e63"),
    (
      "SHA1", "a9993e364706816aba3e25717850c26c9cd0d89d",
      "65ba90ac47c0e09f83e6257ca0453aeb19df63cf"
    ),
    (
      "SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "f2a778f1a6ed3d5bc59a5d79104c598f3f07093f240ca4e91333fb09ed4f36da"
    ),
    (
      "SHA512",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
      "f3ea3dce496e48ccb10e68c1ce4e9d9eb77601054e1bb70469fcf61c58c6d28f"
        + "d53b34c84b21b4ea6431d5bffbe57d360f6f119db1abf4aa35f85378c3b691ee"
    ),
  ]
  private static let plain: [HashVector] = abc.flatMap { algorithm, once, thrice in
    [
      HashVector("abc, \(algorithm)", algorithm, password: "bc", salt: "a", hash: once) {
        $0.rounds = 1
      },
      HashVector(
        "abc, \(algorithm), password first", algorithm, password: "a", salt: "bc", hash: once
      ) {
        $0.rounds = 1
        $0.order = .passwordFirst
      },
      HashVector("abc, \(algorithm), three rounds", algorithm, password: "abc", hash: thrice) {
        $0.rounds = 3
      },
    ]
  }

  private static let derived: [HashVector] = [
    HashVector(
      "RFC 6070, 1", "PBKDF_SHA1", password: "password", salt: "salt",
      hash: "0c60c80f961f0e71f3a9b524af6012062fe037a6"
    ) { $0.rounds = 1 },
    HashVector(
      "RFC 6070, 3", "PBKDF_SHA1", password: "password", salt: "salt",
      hash: "4b007901b765489abead49d926f721d065a429c1"
    ) { $0.rounds = 4_096 },
    HashVector(
      "RFC 6070, 5", "PBKDF_SHA1", password: "passwordPASSWORDpassword",
      salt: "saltSALTsaltSALTsaltSALTsaltSALTsalt",
      hash: "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
    ) { $0.rounds = 4_096 },
    HashVector(
      "RFC 6070, 6", "PBKDF_SHA1", password: "pass\0word", salt: "sa\0lt",
      hash: "56fa6aa75548099dcc37d7f03425e0c3"
    ) { $0.rounds = 4_096 },
    HashVector(
      "Python's hashlib, 1", "PBKDF2_SHA512", password: "password", salt: "salt",
      hash: "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
        + "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce"
    ) { $0.rounds = 1 },
    HashVector(
      "RFC 7914, section 11", "PBKDF2_SHA256", password: "Password", salt: "NaCl",
      hash: "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
        + "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
    ) { $0.rounds = 80_000 },
  ]

  private static let scrypts: [HashVector] = [
    HashVector(
      "firebase/scrypt", base64: firebaseHash, salt: "42xEC+ixf3L2lw==",
      password: "user1password", firebase),
    HashVector(
      "RFC 7914, section 12, 1", "STANDARD_SCRYPT", password: "",
      hash: "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
        + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
    ) { ($0.cpuMemCost, $0.blockSize, $0.parallelization) = (16, 1, 1) },
    HashVector(
      "RFC 7914, section 12, 2", "STANDARD_SCRYPT", password: "password", salt: "NaCl",
      hash: "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
    ) { ($0.cpuMemCost, $0.blockSize, $0.parallelization) = (1_024, 8, 16) },
    HashVector(
      "RFC 7914, section 12, 3", "STANDARD_SCRYPT", password: "pleaseletmein",
      salt: "SodiumChloride",
      hash: "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    ) { ($0.cpuMemCost, $0.blockSize, $0.parallelization) = (16_384, 8, 1) },
  ]

  static let firebaseHash =
    "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
  static var firebase: HashParameters {
    var parameters = HashParameters()
    parameters.algorithm = "SCRYPT"
    parameters.signerKey = Base64URL.decode(
      "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==")
    parameters.saltSeparator = Base64URL.decode("Bw==")
    (parameters.rounds, parameters.memoryCost) = (8, 14)
    return parameters
  }

  private static let bcrypts: [HashVector] = [
    HashVector(
      "crypt_blowfish, U*U", "BCRYPT", password: "U*U",
      hash: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
    HashVector(
      "crypt_blowfish, U*U*U", "BCRYPT", password: "U*U*U",
      hash: "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
    HashVector(
      "jBCrypt, abc", "BCRYPT", password: "abc",
      hash: "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"),
    HashVector(
      "crypt_blowfish, empty", "BCRYPT", password: "",
      hash: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"),
  ]

  private static let argons: [HashVector] = [
    argon(
      .i, 19, "the reference implementation's tests",
      "89e9029f4637b295beb027056a7336c414fadd43f6b208645281cb214a56452f"),
    argon(
      .id, 19, "the reference implementation's tests",
      "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"),
    argon(
      .d, 19, "the reference implementation",
      "25c4ee8ba448054b49efc804e478b9d823be1f9bd2e99f51d6ec4007a3a1501f"),
    argon(
      .d, 16, "the reference implementation",
      "bd404868ff00c52e7543c8332e6a772a5724892d7e328d5cf253bbc8e726b371"),
    argon(
      .i, 16, lanes: 2, "the reference implementation",
      "b6c11560a6a9d61eac706b79a2f97d68b4463aa3ad87e00c07e2b01e90c564fb"),
    argon(
      .id, 19, data: "associated", "the reference implementation",
      "8fcc0988b6ca21ecd3e2af2d295523c5539ba02abeda85c1b2613c91d2d73a6d"),
  ]

  private static func argon(
    _ kind: Argon2.Kind, _ version: Int, lanes: Int = 1, data: String = "", _ source: String,
    _ hash: String
  ) -> HashVector {
    HashVector(
      "\(source), \(kind.rawValue), version \(version), \(lanes), \(data)", "ARGON2",
      password: "password", salt: "somesalt", hash: hash
    ) {
      $0.argon2 = Argon2(
        kind: kind, version: version, memory: 256, passes: 2, lanes: lanes,
        associatedData: Array(data.utf8))
    }
  }
}
