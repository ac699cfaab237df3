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
  /// The seed of the demo to create; nil for no demo.
  var demo: UInt64?
  /// The pseudo-locale of all pages; nil for the installed locales.
  var pseudoLocale: PseudoLocale?

  static let options =
    [
      ConfigurationFile.option,
      Option(
        "listen", "HOST:PORT", help: Message("cli.help-address-to-listen-on-default-127")),
      Option(
        "public-url", "URL",
        help: Message("cli.help-the-consoles-address-in-the-browser")),
      Option("data", "DIR", help: Message("cli.help-the-data-folder-default-data")),
      DatabaseLocation.url, DatabaseLocation.passwordFile,
      Option("profile", "PROFILE", help: Message("cli.help-standalone-or-emulator-default")),
      Option(
        "assets", "DIR",
        help: Message("cli.help-folder-with-templates-and-public-default")),
      Option(
        "tls-certificate", "FILE", help: Message("cli.help-tls-certificate-pem-turns-on-https")),
      Option("tls-key", "FILE", help: Message("cli.help-private-key-of-the-certificate-pem")),
      Option(
        "project", "P",
        help: Message("cli.help-emulator-the-project-for-any-api")),
      Option(
        "emulator-beyond-loopback", help: Message("cli.help-emulator-allow-addresses-other-than")),
      Option(
        "access-log", "FILE",
        help: Message("cli.help-access-log-a-file-for-standard")),
      Option("audit-file", "FILE", help: Message("cli.help-audit-file")),
      Option(
        "policy-file", "FILE",
        help: Message("cli.help-show-in-the-console-which")),
      UpgradeBackup.option,
    ] + MonitoringConfiguration.options + BackupWatch.options + NetworkConfiguration.options
    + MailConfiguration.options + SMSConfiguration.options + OutboundConfiguration.options + [
      Option(
        "demo",
        help: Message("cli.help-fill-an-empty-data-folder-with")),
      Option("demo-seed", "N", help: Message("cli.help-seed-of-the-demo-data-default")),
      Option(
        "pseudo-locale", "DIRECTION",
        help: Message("cli.help-demo-show-pages-in-accented-text")),
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
      problems.append(Message("cli.listen-must-be-host-port-such"), of: "listen")
    }
    (host, port) = address ?? ("127.0.0.1", 8080)
    publicURL = arguments.value("public-url")
    if let publicURL, PublicURL(publicURL) == nil {
      problems.append(Message("cli.public-url-must-be-a-scheme"), of: "public-url")
    }
    data = arguments.value("data") ?? Self.defaultData
    database = DatabaseLocation(arguments, problems: &problems)
    let word = arguments.value("profile") ?? Profile.standalone.rawValue
    if Profile(rawValue: word) == nil {
      problems.append(
        Message("cli.profile-must-be-standalone-or-emulator", ["word": .text(word)]), of: "profile")
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
        Message("cli.tls-certificate-and-tls-key-must"),
        of: arguments.has("tls-key") ? "tls-key" : "tls-certificate")
    }
    mail = MailConfiguration(arguments, environment: environment, problems: &problems)
    sms = SMSConfiguration(
      arguments, environment: environment, outbound: outbound, problems: &problems)
    problems += exposure(hasProject: arguments.has("project"))
    demo = arguments.has("demo") ? Demo.standardSeed : nil
    if let text = arguments.value("demo-seed") {
      let seed = UInt64(text)
      if demo == nil { problems.append(Message("cli.demo-seed-requires-demo"), of: "demo-seed") }
      if seed == nil {
        problems.append(
          Message("cli.demo-seed-must-be-a-whole", ["text": .text(text)]), of: "demo-seed")
      }
      demo = seed
    }
    if demo != nil { problems += demoExposure }
    if let text = arguments.value("pseudo-locale") {
      pseudoLocale = PseudoLocale(rawValue: text)
      if demo == nil {
        problems.append(Message("cli.pseudo-locale-requires-demo"), of: "pseudo-locale")
      }
      if pseudoLocale == nil {
        problems.append(
          Message("cli.pseudo-locale-must-be-ltr-or", ["text": .text(text)]), of: "pseudo-locale")
      }
    }
    guard problems.isEmpty else { throw problems.error }
  }

  /// Returns the options that make it unsafe to listen beyond loopback.
  private func exposure(hasProject: Bool) -> [Message] {
    var problems: [Message] = []
    if hasProject, profile == .standalone {
      problems.append(Message("cli.project-requires-the-emulator-profile"))
    }
    guard !HostName.isLoopback(host) else { return problems }
    if publicURL == nil {
      problems.append(Message("cli.listening-beyond-loopback-requires", ["host": .text(host)]))
    }
    if tls == nil, network.trustedProxies.isEmpty {
      problems.append(Message("cli.listening-beyond-loopback-requires-tls", ["host": .text(host)]))
    }
    if profile == .emulator, !emulatorBeyondLoopback {
      problems.append(Message("cli.the-emulator-requires-no-credentials-so"))
    }
    return problems
  }

  /// Whether this is an emulator on loopback, which may start with an empty data folder.
  var isLoopbackEmulator: Bool { profile == .emulator && HostName.isLoopback(host) }

  /// Returns the options that would expose a demo, whose passwords are public.
  var demoExposure: [Message] {
    var problems: [Message] = []
    if mail != nil || sms != nil {
      problems.append(Message("cli.demo-users-are-made-up-and"))
    }
    if profile == .emulator {
      problems.append(Message("cli.a-demo-requires-the-standalone-profile"))
    }
    if !HostName.isLoopback(host) || publicURL != nil || !network.trustedProxies.isEmpty {
      problems.append(Message("cli.demo-passwords-are-public-so-a"))
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
    publicFiles = "\(root)/Public"
    if found == nil {
      problems.append(Message("cli.has-no-templates-and-public-folders", ["root": .text(root)]))
    }
  }

  /// The assets of commands without an `--assets` option.
  static var ofCommands: Assets {
    Assets(folder: ProcessInfo.processInfo.environment["COUNTERSIGN_ASSETS"])
  }

  /// Returns the folder of the guides in a language, a BCP 47 tag; that of the English guides if
  /// they aren't translated.
  func guidance(in locale: String) -> String {
    let translated = "\(templates)/guidance/\(locale)"
    return FileManager.default.fileExists(atPath: translated)
      ? translated : "\(templates)/guidance/en"
  }

  /// Reads the installed catalogs of messages, English first.
  func catalogs() throws -> [Catalog] {
    guard problems.isEmpty else { throw ConfigurationError(problems) }
    do { return try Catalog.installed(in: templates) } catch {
      throw ConfigurationError(
        .verbatim(error.description), isTemporary: error.isTemporary)
    }
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
