import Foundation
import HTTPServer
import Identity

/// All that `serve` was told, checked.
struct ServeConfiguration: Sendable {
  var host: String
  var port: Int
  var publicURL: String?
  var data: String
  var profile: Profile
  var assets: Assets
  var tls: ServerConfiguration.TLS?
  var network: NetworkConfiguration
  var defaultProject: String
  var emulatorBeyondLoopback: Bool
  var accessLog: String
  /// Where mails to users go; nil when they wait to be read.
  var mail: MailConfiguration?
  /// The seed of the demo to make; nil for no demo.
  var demo: UInt64?

  static let options =
    [
      Option("listen", "HOST:PORT", help: "Where to listen; 127.0.0.1:8080 when left out."),
      Option(
        "public-url", "URL",
        help: "The address under which people open the console. Links, cookies and the check of "
          + "forms come from it."),
      Option("data", "DIR", help: "The data folder; ./data when left out."),
      Option("profile", "PROFILE", help: "standalone (when left out) or emulator."),
      Option("assets", "DIR", help: "A folder with Templates and Public to use instead."),
      Option("tls-certificate", "FILE", help: "A certificate (PEM), to speak https."),
      Option("tls-key", "FILE", help: "Its private key (PEM)."),
      Option(
        "project", "P", help: "Emulator: the project that any API key means; demo-project."),
      Option("emulator-beyond-loopback", help: "Emulator: listen on other addresses too."),
      Option("access-log", "FILE", help: "Where each request's line goes: a file, - or none."),
    ] + NetworkConfiguration.options + MailConfiguration.options + [
      Option(
        "demo",
        help:
          "Fill an empty data folder with projects, users and history to look at; loopback only."),
      Option("demo-seed", "N", help: "Another number makes another demo; 30 when left out."),
    ]

  /// Checks everything and tells all problems at once.
  init(
    _ arguments: Arguments, environment: [String: String] = [:]
  ) throws(ConfigurationError) {
    var problems: [String] = []
    let listen = arguments.value("listen") ?? "127.0.0.1:8080"
    let address = Self.address(listen)
    if address == nil { problems.append("--listen wants HOST:PORT, such as 127.0.0.1:8080.") }
    (host, port) = address ?? ("127.0.0.1", 8080)
    publicURL = arguments.value("public-url")
    data = arguments.value("data") ?? "./data"
    let word = arguments.value("profile") ?? Profile.standalone.rawValue
    if Profile(rawValue: word) == nil {
      problems.append("--profile is standalone or emulator, not \(word).")
    }
    profile = Profile(rawValue: word) ?? .standalone
    assets = Assets(folder: arguments.value("assets"))
    problems += assets.problems
    network = NetworkConfiguration(arguments, profile: profile, problems: &problems)
    defaultProject = arguments.value("project") ?? "demo-project"
    emulatorBeyondLoopback = arguments.has("emulator-beyond-loopback")
    accessLog = arguments.value("access-log") ?? "-"
    switch (arguments.value("tls-certificate"), arguments.value("tls-key")) {
    case (nil, nil): tls = nil
    case (let certificate?, let key?): tls = .init(certificate: certificate, key: key)
    default:
      tls = nil
      problems.append("--tls-certificate and --tls-key belong together.")
    }
    mail = MailConfiguration(arguments, environment: environment, problems: &problems)
    problems += exposure(hasProject: arguments.has("project"))
    demo = arguments.has("demo") ? Demo.standardSeed : nil
    if let text = arguments.value("demo-seed") {
      let seed = UInt64(text)
      if demo == nil { problems.append("--demo-seed belongs to --demo.") }
      if seed == nil { problems.append("--demo-seed wants a whole number, not \(text).") }
      demo = seed
    }
    if demo != nil { problems += demoExposure }
    guard problems.isEmpty else { throw ConfigurationError(problems) }
  }

  /// What is not safe to offer to other machines.
  private func exposure(hasProject: Bool) -> [String] {
    var problems: [String] = []
    if hasProject, profile == .standalone {
      problems.append("--project belongs to the emulator profile.")
    }
    guard !Self.isLoopback(host) else { return problems }
    if publicURL == nil {
      problems.append("Listening beyond loopback (\(host)) needs --public-url.")
    }
    if tls == nil, network.trustedProxies.isEmpty {
      problems.append(
        "Listening beyond loopback (\(host)) needs --tls-certificate and --tls-key, or a "
          + "--trusted-proxy that speaks https in front.")
    }
    if profile == .emulator, !emulatorBeyondLoopback {
      problems.append(
        "The emulator asks for no credentials, so it listens on loopback only. Say "
          + "--emulator-beyond-loopback to do otherwise.")
    }
    return problems
  }

  /// Whether it's an emulator for this machine alone, which may start with an empty data folder.
  var isLoopbackEmulator: Bool { profile == .emulator && Self.isLoopback(host) }

  /// What would let others sign in to a demo, whose passwords anybody can know.
  var demoExposure: [String] {
    var problems: [String] = []
    if mail != nil {
      problems.append(
        "The users of a demo are invented, so no mail goes to them: leave out --smtp.")
    }
    if profile == .emulator { problems.append("A demo belongs to the standalone profile.") }
    if !Self.isLoopback(host) || publicURL != nil || !network.trustedProxies.isEmpty {
      problems.append(
        "The passwords of a demo are known to everybody, so it is served on loopback only, "
          + "without --public-url and --trusted-proxy.")
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

  /// The address that people open, when the server listens on a port.
  func address(port: some BinaryInteger) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return publicURL ?? "\(tls == nil ? "http" : "https")://\(host):\(port)"
  }

  static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1"
      || (host.hasPrefix("127.") && host.split(separator: ".").count == 4)
  }
}

/// The folders with templates and public files.
struct Assets: Sendable {
  let templates: String
  let publicFiles: String
  let guidance: String
  private(set) var problems: [String] = []

  /// Uses `folder`, else the checkout's folders, else `../share/countersign` beside the program.
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
    guidance = "\(root)/Templates/guidance/en"
    if found == nil {
      problems.append(
        "There are no folders Templates and Public in \(root). Name the folder that has them with "
          + "--assets.")
    }
  }

  /// The folders above a program that was built in a checkout.
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
