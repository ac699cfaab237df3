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
  house + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

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
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: house)
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
    .systemLibrary(name: "CTimex", path: "Sources/CTimex"),
    library("CQREncode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
    library("CCBOR", pkgConfig: "libcbor", package: "libcbor-dev"),
    library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),

    module("Crypto", ["CCrypto", "CArgon2", "CCrypt"], settings: optimized),
    module("Text", [], settings: optimized),
    module("JSON", ["Text"], settings: optimized),

    module("OTP", ["Crypto"], settings: optimized),
    module("Metrics", [], settings: optimized),
    module("Localization", ["Text"], settings: optimized),
    module("Templating", ["Localization", "Text"], settings: optimized),
    module("HTTP", ["JSON", "Text"], settings: optimized),
    module("Database", [], settings: optimized),
    module("QRCode", ["CQREncode"], settings: optimized),
    module("INI", ["CInih"]),
    module("Host", ["CTimex"]),
    module("CBOR", ["CCBOR"]),
    module("WebAuthn", ["CBOR", "Crypto", "JSON", "Text"]),
    module("OpenIDConnect", ["Crypto", "JSON", "Text"]),
    module("Markdown", ["CCmark", "Text"], settings: optimized),
    module("Network", []),
    module("HTTPClient", ["CCurl", "Crypto", "Network"]),
    module("SMTP", ["Crypto", "HTTPClient", "Network"]),
    module("SMS", ["Crypto", "HTTP", "HTTPClient", "JSON"]),

    .target(
      name: "Identity",
      dependencies: [
        "Database", "Crypto", "JSON", "Network", "OTP", "OpenIDConnect", "Text", "WebAuthn",
      ],
      exclude: ["Migrations/README.md"],
      resources: [
        .embedInCode("Migrations/m0001_foundation_sqlite.sql"),
        .embedInCode("Migrations/m0002_users_sqlite.sql"),
        .embedInCode("Migrations/m0003_administrators_sqlite.sql"),
        .embedInCode("Migrations/m0004_policy_sqlite.sql"),
        .embedInCode("Migrations/m0005_settings_sqlite.sql"),
        .embedInCode("Migrations/m0006_guidance_sqlite.sql"),
        .embedInCode("Migrations/m0007_policy_stamp_sqlite.sql"),
        .embedInCode("Migrations/m0008_token_makers_sqlite.sql"),
        .embedInCode("Migrations/m0009_places_sqlite.sql"),
        .embedInCode("Migrations/m0010_outbox_sqlite.sql"),
        .embedInCode("Migrations/m0011_audit_filing_sqlite.sql"),
        .embedInCode("Migrations/m0012_oob_codes_sqlite.sql"),
        .embedInCode("Migrations/m0013_delivery_sqlite.sql"),
        .embedInCode("Migrations/m0014_phones_sqlite.sql"),
        .embedInCode("Migrations/m0015_federation_sqlite.sql"),
        .embedInCode("Migrations/m0016_keys_sqlite.sql"),
        .embedInCode("Migrations/m0017_import_sqlite.sql"),
        .embedInCode("Migrations/m0018_desk_sqlite.sql"),
        .embedInCode("Migrations/m0019_desk_actions_sqlite.sql"),
        .embedInCode("Migrations/m0020_verdicts_sqlite.sql"),
        .embedInCode("Migrations/m0021_stand_ins_sqlite.sql"),
        .embedInCode("Migrations/m0022_bulk_sqlite.sql"),
        .embedInCode("Migrations/m0023_policy_pages_sqlite.sql"),
        .embedInCode("Migrations/m0024_generations_sqlite.sql"),
        .embedInCode("Migrations/m0025_policy_widening_sqlite.sql"),
        .embedInCode("Migrations/m0026_former_addresses_sqlite.sql"),
        .embedInCode("Migrations/m0027_unreadable_secrets_sqlite.sql"),
        .embedInCode("Migrations/m0028_token_rules_sqlite.sql"),
        .embedInCode("Migrations/m0029_given_fields_sqlite.sql"),
        .embedInCode("Migrations/m0030_policy_approval_sqlite.sql"),
        .embedInCode("Migrations/m0031_standard_terms_sqlite.sql"),
        .embedInCode("Migrations/m0032_audit_changes_sqlite.sql"),
        .embedInCode("Migrations/m0034_unused_indexes_sqlite.sql"),
        .embedInCode("Migrations/m0035_filed_scopes_sqlite.sql"),
        .embedInCode("Migrations/m0036_activity_sqlite.sql"),
        .embedInCode("Migrations/m0037_reviews_sqlite.sql"),
        .embedInCode("Migrations/m0038_scheduled_changes_sqlite.sql"),
        .embedInCode("Migrations/m0039_policy_templates_sqlite.sql"),
        .embedInCode("Migrations/m0040_enforcement_sqlite.sql"),
        .embedInCode("Migrations/m0041_caller_codes_sqlite.sql"),
        .embedInCode("Migrations/m0042_alerts_sqlite.sql"),
        .embedInCode("Migrations/m0043_report_subscriptions_sqlite.sql"),
        .embedInCode("Migrations/m0044_bulk_groups_sqlite.sql"),
        .embedInCode("Migrations/m0045_instance_reports_sqlite.sql"),
        .embedInCode("Migrations/m0046_upgrades_sqlite.sql"),
        .embedInCode("Migrations/m0048_audit_chain_sqlite.sql"),
        .embedInCode("Migrations/m0050_text_messages_sqlite.sql"),
        .embedInCode("Migrations/m0051_event_streams_sqlite.sql"),
        .embedInCode("Migrations/m0052_sign_in_provider_sqlite.sql"),
        .embedInCode("Migrations/m0053_passkeys_sqlite.sql"),
        .embedInCode("Migrations/m0054_administrator_access_sqlite.sql"),
        .embedInCode("Migrations/m0055_email_templates_sqlite.sql"),
        .embedInCode("Migrations/m0057_user_erasures_sqlite.sql"),
        .embedInCode("Migrations/m0058_policy_stamps_sqlite.sql"),
        .embedInCode("Migrations/m0059_unused_steps_sqlite.sql"),
        .embedInCode("Migrations/m0059_baseline_postgresql.sql"),
        .embedInCode("Migrations/m0060_console_storage_sqlite.sql"),
        .embedInCode("Migrations/m0060_console_storage_postgresql.sql"),
        .embedInCode("Migrations/m0061_count_changes_sqlite.sql"),
        .embedInCode("Migrations/m0061_count_changes_postgresql.sql"),
        .embedInCode("Migrations/m0062_room_for_changes_sqlite.sql"),
        .embedInCode("Migrations/m0062_room_for_changes_postgresql.sql"),
        .embedInCode("Migrations/m0063_pool_keys_sqlite.sql"),
        .embedInCode("Migrations/m0063_pool_keys_postgresql.sql"),
      ], swiftSettings: house),

    module(
      "HTTPServer", ["HTTP", "Network", "Text", "CMicroHTTPD", "CZlib"], settings: optimized),
    module("DatabaseSQLite", ["Database", "CSQLite"], settings: optimized),
    module("DatabasePostgreSQL", ["Database", "CPostgreSQL"], settings: optimized),
    module(
      "IdentityToolkitAPI", ["Crypto", "HTTP", "JSON", "Identity", "OTP", "OpenIDConnect", "Text"]),
    module(
      "Console",
      [
        "Crypto", "HTTP", "JSON", "Identity", "Localization", "MailText", "Markdown", "OTP",
        "OpenIDConnect", "QRCode", "Templating", "Text", "WebAuthn",
      ]),

    module("MailText", ["Identity", "Localization", "OTP"]),

    module("Demo", ["Crypto", "Database", "Identity", "OTP", "OpenIDConnect", "Text"]),

    .executableTarget(
      name: "countersign",
      dependencies: [
        "Crypto", "Text", "JSON", "OTP", "Localization", "Templating", "HTTP", "Database", "QRCode",
        "Markdown", "INI", "Host", "MailText", "Metrics", "Network", "HTTPClient", "SMTP", "SMS",
        "Identity", "HTTPServer", "DatabaseSQLite",
        .target(name: "DatabasePostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        "IdentityToolkitAPI",
        "Console",
        "Demo",
      ],
      resources: [.embedInCode("CommandLine/messages.po")], swiftSettings: house),

    // Prepares data folders for script/bench; not part of the product.
    .executableTarget(
      name: "countersign-bench",
      dependencies: ["Crypto", "DatabaseSQLite", "Demo", "Identity", "OTP"], swiftSettings: house),

    tests("CryptoTests", ["Crypto"]),
    // Generates text that is expensive to normalize, and measures its cost.
    .target(name: "HostileText", path: "Tests/HostileText", swiftSettings: house),

    // What must hold for every input of every parser, for the tests and for script/fuzz.
    .target(
      name: "ParserFuzzing",
      dependencies: [
        "CBOR", "Crypto", "DatabasePostgreSQL", "HTTP", "HTTPClient", "HTTPServer", "INI",
        "Identity", "IdentityToolkitAPI", "JSON", "Localization", "Markdown", "Network", "OTP",
        "OpenIDConnect", "SMTP", "Templating", "Text", "WebAuthn",
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
    tests("DatabaseTests", ["Database", "DatabaseSQLite"]),
    tests(
      "DatabasePostgreSQLTests",
      ["Database", "DatabasePostgreSQL", "DatabaseSQLite", "TestDatabases"]),
    tests("HTTPTests", ["HTTP", "JSON", "HostileText", "Text"]),
    tests("HTTPServerTests", ["HTTP", "HTTPServer", "Network", "Text"]),
    tests(
      "IdentityTests",
      [
        "Identity", "Demo", "Database", "DatabaseSQLite", "Crypto", "JSON", "Localization",
        "MailText", "OTP", "OpenIDConnect", "HostileText", "TestAuthenticator", "TestDatabases",
        "TestProvider", "Text", "WebAuthn",
      ],
      exclude: ["__Snapshots__"]),
    tests(
      "IdentityToolkitAPITests",
      [
        "IdentityToolkitAPI", "HTTP", "JSON", "Identity", "Database", "Crypto",
        "Localization", "MailText", "OTP", "HostileText", "TestDatabases", "Text",
      ]),
    tests(
      "ConsoleTests",
      [
        "Console", "HTTP", "Identity", "Localization", "MailText", "Templating", "Database",
        "Crypto", "JSON", "OTP", "OpenIDConnect", "HostileText", "TestAuthenticator",
        "TestDatabases", "TestProvider", "Text", "WebAuthn",
      ], exclude: ["__Snapshots__"]),
    tests(
      "CountersignTests",
      [
        "countersign", "Crypto", "Database", "DatabaseSQLite", "HTTP", "HTTPServer", "Host",
        "HostileText", "Identity", "IdentityToolkitAPI", "Localization", "Metrics", "Network",
        "OTP",
        "Text",
      ]),
    tests("ArchitectureTests", ["Localization"]),
  ]
)

// Has no `main` without libFuzzer, so only script/fuzz builds it.
if Context.environment["COUNTERSIGN_FUZZ_BUILD"] != nil {
  package.targets.append(
    .executableTarget(
      name: "countersign-fuzz", dependencies: ["ParserFuzzing"], path: "Tests/Fuzz",
      swiftSettings: house))
}
