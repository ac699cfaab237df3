// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
]

/// The settings of the modules below the rules and pages, which debug builds optimize as well.
///
/// A debug server then starts three times as fast; the tests start a thousand. Assertions stay.
let optimized =
  house + [
    .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)),
    // Their generic code, such as reading a row, is compiled for the types it's used with: pages take
    // up to 15% less time.
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
  ]

/// The settings of tests, which are compiled in three quarters of the time without information for a
/// debugger: an expectation that fails knows its line.
let tested = house + [.unsafeFlags(["-Xfrontend", "-gnone"])]

/// Declares a C library of the system.
///
/// - Parameters:
///   - module: The name of the module and its folder in `Sources`.
///   - pkgConfig: The name in pkg-config.
///   - package: The Debian package to suggest when the library is missing.
/// - Returns: The target.
func library(_ module: String, pkgConfig: String, package: String) -> Target {
  .systemLibrary(
    name: module, path: "Sources/\(module)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func module(
  _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = house
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: tested)
}

let package = Package(
  name: "countersign",
  products: [.executable(name: "countersign", targets: ["countersign"])],
  traits: [
    .trait(
      name: "PostgreSQL",
      description: "Lets the database be on a PostgreSQL server; needs libpq."),
    .default(enabledTraits: ["PostgreSQL"]),
  ],
  targets: [
    library("CMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    library("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
    library("CCmark", pkgConfig: "libcmark", package: "libcmark-dev"),
    library("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
    library("CCrypt", pkgConfig: "libcrypt", package: "libcrypt-dev"),
    library("CArgon2", pkgConfig: "libargon2", package: "libargon2-dev"),
    library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    library("CInih", pkgConfig: "inih", package: "libinih-dev"),
    // Not in the module of the C library that comes with Swift.
    .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
    library("CQREncode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
    library("CCBOR", pkgConfig: "libcbor", package: "libcbor-dev"),
    library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),

    module("Crypto", ["CCrypto", "CArgon2", "CCrypt"], settings: optimized),
    module("Text", [], settings: optimized),
    module("JSON", ["Text"], settings: optimized),

    module("OTP", ["Crypto", "Text"], settings: optimized),
    module("Metrics", [], settings: optimized),
    module("Localization", ["Host", "Text"], settings: optimized),
    module("Templating", ["Host", "Localization", "Text"], settings: optimized),
    module("HTTP", ["JSON", "Text"], settings: optimized),
    module("Database", ["Metrics"], settings: optimized),
    module("QRCode", ["CQREncode"], settings: optimized),
    module("Compression", ["CZlib"], settings: optimized),
    module("INI", ["CInih"]),
    module("Host", ["CLinux"], settings: optimized),
    module("CBOR", ["CCBOR"]),
    module("WebAuthn", ["CBOR", "Crypto", "JSON", "Text"]),
    module("OpenIDConnect", ["Crypto", "JSON", "Text"]),
    module("Markdown", ["CCmark", "Text"], settings: optimized),
    module("Network", []),
    module("HTTPClient", ["CCurl", "Crypto", "Network"]),
    module("SMTP", ["Crypto", "HTTPClient", "Network"]),
    module("SMS", ["Crypto", "HTTPClient", "JSON"]),
    module(
      "IdentityToolkitClient", ["Crypto", "JSON", "Localization", "OpenIDConnect", "Text"]),

    .target(
      name: "Identity",
      dependencies: [
        "Compression", "Database", "Crypto", "IdentityToolkitClient", "JSON", "Network", "OTP",
        "OpenIDConnect", "Text", "WebAuthn",
      ],
      exclude: ["Migrations/README.md", "Directory/Passwords/README.md"],
      resources: [
        .embedInCode("Migrations"), .embedInCode("Directory/Passwords/common_passwords.txt.gz"),
      ], swiftSettings: house),

    module(
      "HTTPServer", ["Compression", "HTTP", "Host", "Network", "Text", "CMicroHTTPD"],
      settings: optimized),
    module(
      "DatabaseSQLite", ["Database", "Host", "Metrics", "Text", "CSQLite"], settings: optimized),
    module(
      "DatabasePostgreSQL", ["Database", "Host", "Metrics", "CPostgreSQL"], settings: optimized),
    .target(
      name: "IdentityToolkitAPI",
      dependencies: ["Crypto", "HTTP", "JSON", "Identity", "OTP", "OpenIDConnect", "Text"],
      resources: [.embedInCode("Emulator/handler.js"), .embedInCode("Emulator/frame.js")],
      swiftSettings: house),
    module(
      "Console",
      [
        "Crypto", "HTTP", "Host", "JSON", "Identity", "IdentityToolkitClient", "Localization",
        "MailText", "Markdown", "OTP", "OpenIDConnect", "QRCode", "Templating", "Text", "WebAuthn",
      ]),

    module("MailText", ["Identity", "IdentityToolkitClient", "Localization", "OTP"]),

    .target(
      name: "Demo",
      dependencies: ["Crypto", "Database", "Identity", "OTP", "OpenIDConnect", "Text"],
      resources: [.embedInCode("demo.json")], swiftSettings: house),

    .executableTarget(
      name: "countersign",
      dependencies: [
        "Crypto", "Text", "JSON", "OTP", "Localization", "Templating", "HTTP", "Database", "QRCode",
        "Markdown", "INI", "Host", "MailText", "Metrics", "Network", "HTTPClient", "SMTP", "SMS",
        "Identity", "HTTPServer", "DatabaseSQLite",
        .target(name: "DatabasePostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        "IdentityToolkitAPI",
        "IdentityToolkitClient",
        "Console",
        "Demo",
      ],
      swiftSettings: house,
      linkerSettings: [
        // 4 MB less: nothing looks up symbols of the program, and its relocations are packed.
        .unsafeFlags(
          [
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--no-export-dynamic",
          ], .when(configuration: .release))
      ]),

    tests("CryptoTests", ["Crypto"]),
    // Generates text that is expensive to normalize, and measures its cost.
    .target(name: "HostileText", path: "Tests/HostileText", swiftSettings: house),

    // What must hold for every input of every parser, for the tests and for script/fuzz.
    .target(
      name: "ParserFuzzing",
      dependencies: [
        "CBOR", "Crypto", "DatabasePostgreSQL", "HTTP", "HTTPClient", "HTTPServer", "INI",
        "Identity", "IdentityToolkitAPI", "IdentityToolkitClient", "JSON", "Localization",
        "Markdown", "Network", "OTP", "OpenIDConnect", "SMTP", "Templating", "Text", "WebAuthn",
      ],
      path: "Tests/ParserFuzzing", swiftSettings: house),
    tests("ParserFuzzingTests", ["ParserFuzzing", "OTP"], exclude: ["Corpus"]),
    // Makes passkeys and signs with them, as an authenticator and a browser do.
    .target(
      name: "TestAuthenticator", dependencies: ["Crypto", "WebAuthn"],
      path: "Tests/TestAuthenticator", swiftSettings: house),

    // Signs tokens as a provider of OpenID Connect does.
    .target(
      name: "TestProvider", dependencies: ["Crypto", "Identity", "JSON", "Text"],
      path: "Tests/TestProvider",
      swiftSettings: house),

    // Databases for tests, on SQLite or PostgreSQL.
    .target(
      name: "TestDatabases",
      dependencies: ["CPostgreSQL", "Database", "DatabasePostgreSQL", "DatabaseSQLite"],
      path: "Tests/TestDatabases", swiftSettings: house),

    // Instances, people, and administrators for the tests of the rules.
    .target(
      name: "TestIdentity",
      dependencies: [
        "Crypto", "Database", "DatabaseSQLite", "Identity", "IdentityToolkitClient", "JSON",
        "Localization", "MailText", "OpenIDConnect", "OTP", "TestAuthenticator", "TestDatabases",
        "TestProvider", "Text", "WebAuthn",
      ],
      path: "Tests/TestIdentity", exclude: ["__Snapshots__"], swiftSettings: tested),

    // One user pool of any size, for script/bench and the tests.
    .target(
      name: "LargeDemo", dependencies: ["Crypto", "Database", "Demo", "Identity", "OTP"],
      path: "Tests/LargeDemo", swiftSettings: house),

    // Prepares data folders for script/bench.
    .executableTarget(
      name: "countersign-bench",
      dependencies: ["Crypto", "DatabaseSQLite", "Identity", "LargeDemo", "OTP"],
      path: "Tests/Bench/countersign-bench", swiftSettings: house),

    tests("TextTests", ["Text", "HostileText"]),
    tests("JSONTests", ["JSON", "HostileText", "Text"]),
    tests("OTPTests", ["OTP"]),
    tests("MetricsTests", ["Metrics"]),
    tests("LocalizationTests", ["Localization"]),
    tests("TemplatingTests", ["Templating", "JSON", "Localization", "Text"]),
    tests("MarkdownTests", ["Markdown"]),
    tests("MailTextTests", ["MailText", "Identity", "Localization"]),
    tests("QRCodeTests", ["QRCode"]),
    tests("INITests", ["INI"]),
    tests("CBORTests", ["CBOR"]),
    tests("OpenIDConnectTests", ["Crypto", "JSON", "OpenIDConnect", "TestProvider", "Text"]),
    tests("WebAuthnTests", ["Crypto", "TestAuthenticator", "WebAuthn"]),
    tests("NetworkTests", ["Network"]),
    tests("HTTPClientTests", ["Crypto", "HTTP", "HTTPClient", "HTTPServer", "Network"]),
    tests("SMTPTests", ["HTTPClient", "SMTP"]),
    tests("SMSTests", ["Crypto", "HTTPClient", "JSON", "SMS", "Text"]),
    tests(
      "IdentityToolkitClientTests",
      ["Crypto", "IdentityToolkitClient", "JSON", "Localization", "Text"]),
    tests("DatabaseTests", ["Database", "DatabaseSQLite", "TestDatabases"]),
    tests(
      "DatabasePostgreSQLTests", ["Database", "DatabasePostgreSQL", "Metrics", "TestDatabases"]),
    // What both databases do alike.
    tests("DatabaseConformanceTests", ["Database", "DatabasePostgreSQL", "TestDatabases"]),
    tests("HTTPTests", ["HTTP", "JSON", "HostileText", "Text"]),
    tests("HTTPServerTests", ["Compression", "HTTP", "HTTPServer", "Network", "Text"]),
    // The rules: a target for two floors each.
    tests(
      "IdentityStaffTests",
      [
        "Crypto", "Database", "DatabaseSQLite", "HostileText", "Identity", "IdentityToolkitClient",
        "JSON", "OpenIDConnect", "OTP", "TestAuthenticator", "TestDatabases", "TestIdentity",
        "TestProvider", "Text", "WebAuthn",
      ]),
    tests(
      "IdentityUsersTests",
      [
        "Crypto", "Database", "Identity", "JSON", "OpenIDConnect", "OTP", "TestDatabases",
        "TestIdentity", "Text",
      ]),
    tests(
      "IdentitySupportTests",
      [
        "Crypto", "Database", "DatabaseSQLite", "Demo", "HostileText", "Identity",
        "IdentityToolkitClient", "JSON", "LargeDemo", "OTP", "TestDatabases", "TestIdentity",
        "TestProvider", "Text",
      ]),
    tests(
      "IdentityToolkitAPITests",
      [
        "IdentityToolkitAPI", "HTTP", "JSON", "Identity", "Database", "Crypto",
        "Localization", "MailText", "OTP", "HostileText", "TestDatabases", "Text",
      ]),
    tests(
      "ConsoleTests",
      [
        "Console", "HTTP", "Identity", "IdentityToolkitClient", "Localization", "MailText",
        "Templating", "Database", "Crypto", "JSON", "OTP", "OpenIDConnect", "HostileText",
        "TestAuthenticator", "TestDatabases", "TestProvider", "Text", "WebAuthn",
      ], exclude: ["__Snapshots__"]),
    tests(
      "CountersignTests",
      [
        "countersign", "Crypto", "Database", "DatabaseSQLite", "HTTP", "HTTPClient", "HTTPServer",
        "Host", "HostileText", "Identity", "IdentityToolkitAPI", "IdentityToolkitClient",
        "Localization", "MailText", "Metrics", "Network", "OTP", "SMS", "Text",
      ]),
    tests("ArchitectureTests", ["Templating"]),
  ]
)

// Has no `main` without libFuzzer, so only script/fuzz builds it.
if Context.environment["COUNTERSIGN_FUZZ_BUILD"] != nil {
  package.targets.append(
    .executableTarget(
      name: "countersign-fuzz", dependencies: ["ParserFuzzing"], path: "Tests/Fuzz",
      swiftSettings: house))
}
