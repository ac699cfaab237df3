import JSON

/// Hashes of the password `password` with the salt `somesalt`, created with third-party software:
/// Python's hashlib and crypt, openssl, and the reference implementation of Argon2.
enum HashCases {
  static let all: [BatchCreateTests.Hashed] = [
    BatchCreateTests.Hashed(
      "HMAC_SHA256",
      ["hashAlgorithm": "HMAC_SHA256", "signerKey": "a2V5"],
      "c042d32cf6dea7a7a42aca8203e7b9a755c3e453b29d84cb3ff1f457a0b13269"),
    BatchCreateTests.Hashed(
      "HMAC_SHA512",
      ["hashAlgorithm": "HMAC_SHA512", "signerKey": "a2V5"],
      "4c5d4e32728a674c17fbf3759cdd8536f204f4aba571c73119c585dce3eb937465802ac834e352551c7d927b7935f2c9c558799ef26162ed2da821a5ddd52224"
    ),
    BatchCreateTests.Hashed(
      "HMAC_SHA1",
      ["hashAlgorithm": "HMAC_SHA1", "signerKey": "a2V5"],
      "7a25f09215b14fa8375d140c58714f1bb2964f5a"),
    BatchCreateTests.Hashed(
      "HMAC_MD5",
      ["hashAlgorithm": "HMAC_MD5", "signerKey": "a2V5"],
      "6a76c0e82f57678c3937f86ff2cf9636"),
    BatchCreateTests.Hashed(
      "HMAC_SHA256, salt first",
      [
        "hashAlgorithm": "HMAC_SHA256", "signerKey": "a2V5",
        "passwordHashOrder": "SALT_AND_PASSWORD",
      ],
      "8995fefa97eb7d0979d6bff2d9b22a4d4861825c564659cef72a4f166a9e4f53"),
    BatchCreateTests.Hashed(
      "MD5, as text",
      ["hashAlgorithm": "MD5", "rounds": 0],
      "dfb4b540eb7192725c82593db80c2e40"),
    BatchCreateTests.Hashed(
      "SHA1",
      ["hashAlgorithm": "SHA1", "rounds": 1],
      "9ec0e4f056bb0402804443cc591e07acaf44b414"),
    BatchCreateTests.Hashed(
      "SHA256",
      ["hashAlgorithm": "SHA256", "rounds": 1],
      "5d5e792708bfa15f0ab42e817b4e69379777d2722e0529dfb031c0b847db137d"),
    BatchCreateTests.Hashed(
      "SHA512",
      ["hashAlgorithm": "SHA512", "rounds": 1],
      "64163a409118283e6d83501014bacb6f62b6380d9b030c85b77376b78027564a2767d70ccf6cab98e915e3a2b0731844cb6f5ceb47b4334d0d92285011bbe970"
    ),
    BatchCreateTests.Hashed(
      "SHA256, password first, three rounds",
      ["hashAlgorithm": "SHA256", "rounds": "3", "passwordHashOrder": 2],
      "87a724283687c6badd34f61de082e3bda8eecaa3ab12f8a99a90d51e9e7720d2"),
    BatchCreateTests.Hashed(
      "PBKDF_SHA1",
      ["hashAlgorithm": "PBKDF_SHA1", "rounds": 1000],
      "9e1a4a773dd4084fce51e0b468bc1bf119dee57f"),
    BatchCreateTests.Hashed(
      "PBKDF2_SHA256",
      ["hashAlgorithm": "PBKDF2_SHA256", "rounds": 1000],
      "8f801ad788a752d3a1ed283f0fb847e78a21ca6b873500f8f9c71f85ea465806253797bd35e3d61a0f16367def23802ce234922e50dc178c48d452dbff2d6d43"
    ),
    BatchCreateTests.Hashed(
      "STANDARD_SCRYPT",
      [
        "hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1024, "parallelization": 16,
        "blockSize": 8, "dkLen": 64,
      ],
      "7b58e850868665cc19f512d0588b20ab8d8b972e47a8eda492ac42faca842d38f1bbf2005fbafc0c82a4132a775e5fcd40a7cce1c7908fc1b57670f4c17292dd"
    ),
    BatchCreateTests.Hashed(
      "SCRYPT",
      [
        "hashAlgorithm": "SCRYPT", "signerKey": "c2lnbmVyIGtleSBvZiB0aGUgcHJvamVjdA==",
        "saltSeparator": "Bw==", "rounds": 2, "memoryCost": 5,
      ],
      "173a866d7865551e7a417526dcc7fc8d2127f53c5649b1f489"),
    BatchCreateTests.Hashed(
      "BCRYPT",
      ["hashAlgorithm": "BCRYPT"],
      "$2b$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm"),
    BatchCreateTests.Hashed(
      "ARGON2, ARGON2_ID",
      [
        "hashAlgorithm": "ARGON2",
        "argon2Parameters": [
          "hashType": "ARGON2_ID", "hashLengthBytes": 32, "parallelism": 1, "iterations": 2,
          "memoryCostKib": 256, "version": "VERSION_13",
        ],
      ],
      "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"),
    BatchCreateTests.Hashed(
      "ARGON2, ARGON2_I",
      [
        "hashAlgorithm": "ARGON2",
        "argon2Parameters": [
          "hashType": "ARGON2_I", "hashLengthBytes": 32, "parallelism": 1, "iterations": 2,
          "memoryCostKib": 256, "version": "VERSION_13",
        ],
      ],
      "89e9029f4637b295beb027056a7336c414fadd43f6b208645281cb214a56452f"),
    BatchCreateTests.Hashed(
      "ARGON2, ARGON2_D",
      [
        "hashAlgorithm": "ARGON2",
        "argon2Parameters": [
          "hashType": "ARGON2_D", "hashLengthBytes": 32, "parallelism": 1, "iterations": 2,
          "memoryCostKib": 256, "version": "VERSION_13",
        ],
      ],
      "25c4ee8ba448054b49efc804e478b9d823be1f9bd2e99f51d6ec4007a3a1501f"),
    BatchCreateTests.Hashed(
      "ARGON2, first version",
      [
        "hashAlgorithm": "ARGON2",
        "argon2Parameters": [
          "hashType": "ARGON2_D", "hashLengthBytes": 32, "parallelism": 1, "iterations": 2,
          "memoryCostKib": 256, "version": "VERSION_10",
        ],
      ],
      "bd404868ff00c52e7543c8332e6a772a5724892d7e328d5cf253bbc8e726b371"),
    BatchCreateTests.Hashed(
      "ARGON2, associated data",
      [
        "hashAlgorithm": "ARGON2",
        "argon2Parameters": [
          "hashType": "ARGON2_ID", "hashLengthBytes": 32, "parallelism": 1, "iterations": 2,
          "memoryCostKib": 256, "associatedData": "YXNzb2NpYXRlZA==",
        ],
      ],
      "8fcc0988b6ca21ecd3e2af2d295523c5539ba02abeda85c1b2613c91d2d73a6d"),
  ]
}
