import Console
import Demo
import Foundation
import HTTPServer
import Identity
import Localization
import Network

struct ServeConfiguration: Sendable {
  var host: String
  var port: Int
  var publicURL: String?
  var data: String
  var database: DatabaseLocation
  var profile: Profile
  var assets: Assets
  var tls: ServerConfiguration.TLS?
  var network: NetworkConfiguration
  var defaultProject: String
  var emulatorBeyondLoopback: Bool
  var upgradeBackup: UpgradeBackup.Choice
  var accessLog: String
  /// The file that the audit log is appended to, or `-` for standard output; nil for none.
  var auditFile: String?
  var outbound: OutboundConfiguration
  var monitoring: MonitoringConfiguration
  var policyFile: String?
  var backups: BackupWatch?
  /// Whether backups are to be watched that aren't those of the database, since it's on a server.
  var ignoresBackups = false
  /// Email delivery; nil when emails are queued and can be read in the console.
  var mail: MailConfiguration?
  /// Delivery of text messages; nil when they are queued and can be read in the console.
  var sms: SMSConfiguration?
  let smsLimits: SMSLimits
  /// The seed of the demo to create; nil for no demo.
  var demo: UInt64?
  /// The pseudo-locale of all pages; nil for the installed locales.
  var pseudoLocale: PseudoLocale?

  static let options =
    [
      ConfigurationFile.option,
      Option(
        "listen", "HOST:PORT", help: Message("Address to listen on (default: 127.0.0.1:8080).")),
      Option(
        "public-url", "URL",
        help: Message(
          """
          The console's address in the browser. Determines links, cookies, and the origin check \
          of forms (default: the listening address).
          """)),
      Option("data", "DIR", help: Message("The data folder (default: ./data).")),
      DatabaseLocation.url, DatabaseLocation.passwordFile,
      Option("profile", "PROFILE", help: Message("standalone or emulator (default: standalone).")),
      Option(
        "assets", "DIR",
        help: Message(
          "Folder with Templates and Public (default: the checkout, or ../share/countersign).")),
      Option(
        "tls-certificate", "FILE", help: Message("TLS certificate (PEM); turns on HTTPS.")),
      Option("tls-key", "FILE", help: Message("Private key of the certificate (PEM).")),
      Option(
        "project", "P",
        help: Message("Emulator: the project for any API key (default: demo-project).")),
      Option(
        "emulator-beyond-loopback", help: Message("Emulator: allow addresses other than loopback.")),
      Option(
        "access-log", "FILE",
        help: Message("Access log: a file, - for standard output, or none (default: -).")),
      Option(
        "audit-file", "FILE",
        help: Message(
          "Append the audit log to this file as lines of JSON; - for standard output.")),
      Option(
        "policy-file", "FILE",
        help: Message(
          "Show in the console which MFA policies differ from this file; see policy export.")),
      UpgradeBackup.option,
    ] + MonitoringConfiguration.options + BackupWatch.options + NetworkConfiguration.options
    + MailConfiguration.options + SMSConfiguration.options + OutboundConfiguration.options + [
      Option(
        "demo",
        help: Message(
          "Fill an empty data folder with demo projects, users, and history; loopback only.")),
      Option("demo-seed", "N", help: Message("Seed of the demo data (default: 30).")),
      Option(
        "pseudo-locale", "DIRECTION",
        help: Message("Demo: show pages in accented text, ltr or rtl, to find untranslated text.")),
    ]

  static let defaultData = "./data"

  /// - Throws: `ConfigurationError` with all problems at once.
  init(
    _ arguments: Arguments, environment: [String: String] = [:]
  ) throws(ConfigurationError) {
    var problems = ConfigurationProblems(arguments)
    let listen = arguments.value("listen") ?? "127.0.0.1:8080"
    let address = Self.address(listen)
    if address == nil {
      problems.append(Message("--listen must be HOST:PORT, such as 127.0.0.1:8080."), of: "listen")
    }
    (host, port) = address ?? ("127.0.0.1", 8080)
    publicURL = arguments.value("public-url")
    if let publicURL, PublicURL(publicURL) == nil {
      problems.append(
        Message(
          """
          --public-url must be a scheme, a host, and optionally a port, such as \
          https://mfa.example.com.
          """), of: "public-url")
    }
    data = arguments.value("data") ?? Self.defaultData
    database = DatabaseLocation(arguments, problems: &problems)
    let word = arguments.value("profile") ?? Profile.standalone.rawValue
    if Profile(rawValue: word) == nil {
      problems.append(
        Message("--profile must be standalone or emulator, not {word}.", ["word": .text(word)]),
        of: "profile")
    }
    profile = Profile(rawValue: word) ?? .standalone
    assets = Assets(folder: arguments.value("assets"))
    for problem in assets.problems { problems.append(problem, of: "assets") }
    network = NetworkConfiguration(arguments, profile: profile, problems: &problems)
    defaultProject = arguments.value("project") ?? "demo-project"
    emulatorBeyondLoopback = arguments.has("emulator-beyond-loopback")
    upgradeBackup = arguments.has(UpgradeBackup.option.name) ? .skip : .create
    accessLog = arguments.value("access-log") ?? "-"
    auditFile = arguments.value("audit-file")
    outbound = OutboundConfiguration(arguments, problems: &problems)
    monitoring = MonitoringConfiguration(arguments, problems: &problems)
    if let address, let problem = monitoring.problem(nextTo: address, listen, arguments) {
      problems.append(problem, of: "metrics-listen")
    }
    policyFile = arguments.value("policy-file")
    backups = BackupWatch(arguments, problems: &problems)
    if database != .file, backups != nil { (backups, ignoresBackups) = (nil, true) }
    switch (arguments.value("tls-certificate"), arguments.value("tls-key")) {
    case (nil, nil): tls = nil
    case (let certificate?, let key?): tls = .init(certificate: certificate, key: key)
    default:
      tls = nil
      problems.append(
        Message("--tls-certificate and --tls-key must be used together."),
        of: arguments.has("tls-key") ? "tls-key" : "tls-certificate")
    }
    mail = MailConfiguration(arguments, environment: environment, problems: &problems)
    smsLimits = SMSConfiguration.limits(&problems)
    sms = SMSConfiguration(
      arguments, environment: environment, outbound: outbound, problems: &problems)
    problems += exposure(hasProject: arguments.has("project"))
    demo = arguments.has("demo") ? Demo.standardSeed : nil
    if let text = arguments.value("demo-seed") {
      let seed = UInt64(text)
      if demo == nil { problems.append(Message("--demo-seed requires --demo."), of: "demo-seed") }
      if seed == nil {
        problems.append(
          Message("--demo-seed must be a whole number, not {text}.", ["text": .text(text)]),
          of: "demo-seed")
      }
      demo = seed
    }
    if demo != nil { problems += demoExposure }
    if let text = arguments.value("pseudo-locale") {
      pseudoLocale = PseudoLocale(rawValue: text)
      if demo == nil {
        problems.append(Message("--pseudo-locale requires --demo."), of: "pseudo-locale")
      }
      if pseudoLocale == nil {
        problems.append(
          Message("--pseudo-locale must be ltr or rtl, not {text}.", ["text": .text(text)]),
          of: "pseudo-locale")
      }
    }
    guard problems.isEmpty else { throw problems.error }
  }

  /// Returns the options that make it unsafe to listen beyond loopback.
  private func exposure(hasProject: Bool) -> [Message] {
    var problems: [Message] = []
    if hasProject, profile == .standalone {
      problems.append(Message("--project requires the emulator profile."))
    }
    guard !HostName.isLoopback(host) else { return problems }
    if publicURL == nil {
      problems.append(
        Message("Listening beyond loopback ({host}) requires --public-url.", ["host": .text(host)]))
    }
    if tls == nil, network.trustedProxies.isEmpty {
      problems.append(
        Message(
          """
          Listening beyond loopback ({host}) requires --tls-certificate and --tls-key, or a \
          --trusted-proxy that terminates TLS.
          """, ["host": .text(host)]))
    }
    if profile == .emulator, !emulatorBeyondLoopback {
      problems.append(
        Message(
          """
          The emulator requires no credentials, so it listens on loopback only. To allow other \
          addresses, add --emulator-beyond-loopback.
          """))
    }
    return problems
  }

  /// Whether this is an emulator on loopback, which may start with an empty data folder.
  var isLoopbackEmulator: Bool { profile == .emulator && HostName.isLoopback(host) }

  /// Returns the options that would expose a demo, whose passwords are public.
  var demoExposure: [Message] {
    var problems: [Message] = []
    if mail != nil || sms != nil {
      problems.append(Message("Demo users don't have real email addresses. Remove --smtp."))
    }
    if profile == .emulator {
      problems.append(Message("A demo requires the standalone profile."))
    }
    if !HostName.isLoopback(host) || publicURL != nil || !network.trustedProxies.isEmpty {
      problems.append(
        Message(
          """
          Demo passwords are public, so a demo is served on loopback only. Remove --public-url and \
          --trusted-proxy.
          """))
    }
    return problems
  }

  static func address(_ text: String) -> (String, Int)? {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65_535).contains(port)
    else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    return host.isEmpty ? nil : (host, port)
  }

  func address(port: some BinaryInteger) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return publicURL ?? "\(tls == nil ? "http" : "https")://\(host):\(port)"
  }
}

extension ServeConfiguration {
  /// Whether administrators can use passkeys at the console's address.
  var passkeys: Finding {
    let address = address(port: port)
    guard let host = PublicURL(address)?.passkeyHost else {
      return .passkeysImpossible(address: address)
    }
    return .passkeysPossible(host: host)
  }
}

struct Assets: Sendable {
  let templates: String
  /// The translations, which can be missing.
  let localizations: String
  let publicFiles: String
  private(set) var problems: [Message] = []

  /// Looks for the folders in `folder`; when it's nil, in the working directory,
  /// `../share/countersign` relative to the program, and the folders above the program.
  init(folder: String?) {
    let files = FileManager.default
    let program = (Bundle.main.executablePath ?? CommandLine.arguments[0]) as NSString
    let share = (program.deletingLastPathComponent as NSString)
      .appendingPathComponent("../share/countersign")
    let candidates = folder.map { [$0] } ?? [".", share] + Self.ancestors(of: program as String)
    let found = candidates.first { candidate in
      files.fileExists(atPath: "\(candidate)/Templates")
        && files.fileExists(atPath: "\(candidate)/Public")
    }
    let root = found ?? candidates[0]
    templates = "\(root)/Templates"
    localizations = "\(root)/Localizations"
    publicFiles = "\(root)/Public"
    if found == nil {
      problems.append(
        Message(
          """
          {root} has no Templates and Public folders. Set COUNTERSIGN_ASSETS, or --assets of serve, \
          to the folder with both.
          """, ["root": .text(root)]))
    }
  }

  /// The assets of commands without an `--assets` option.
  static var ofCommands: Assets {
    Assets(folder: ProcessInfo.processInfo.environment["COUNTERSIGN_ASSETS"])
  }

  /// Returns the folder of the guides in a language, a BCP 47 tag; that of the English guides if
  /// they aren't translated.
  func guides(in locale: String) -> String {
    let translated = "\(templates)/guides/\(locale)"
    return FileManager.default.fileExists(atPath: translated)
      ? translated : "\(templates)/guides/en"
  }

  /// Reads the installed catalogs of messages, English first; what they lack is a warning.
  func catalogs() throws -> [Catalog] {
    guard problems.isEmpty else { throw ConfigurationError(problems) }
    let translations = Translations(folder: localizations)
    for warning in translations.warnings { Terminal.complain(warning.message) }
    return translations.catalogs
  }

  /// Returns up to six folders above the program, for one built in a checkout.
  private static func ancestors(of program: String) -> [String] {
    var folders: [String] = []
    var folder = program as NSString
    for _ in 0..<6 {
      folder = folder.deletingLastPathComponent as NSString
      if folder.length <= 1 { break }
      folders.append(folder as String)
    }
    return folders
  }
}
