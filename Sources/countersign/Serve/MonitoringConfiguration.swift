import Glibc
import Localization
import Network

/// The log, the metrics, and the time between a stop signal and the end of listening.
struct MonitoringConfiguration: Sendable {
  private(set) var logFormat: LogFormat
  private(set) var metrics: (host: String, port: Int)?
  /// How long the server answers requests after a stop signal, while it reports that it isn't
  /// ready, in seconds.
  private(set) var drainDelay: Int

  static let options = [
    Option(
      "log-format", "FORMAT",
      help: Message(
        "Format of the log: text or json (default: text on a terminal, otherwise json).")),
    Option(
      "metrics-listen", "HOST:PORT",
      help: Message(
        "Address that serves metrics for Prometheus, without authentication (default: none).")),
    Option(
      "drain-delay", "SECONDS",
      help: Message(
        "Seconds to keep answering requests after a stop signal, with /readyz at 503 (default: 0).")
    ),
  ]

  init(_ arguments: Arguments, problems: inout ConfigurationProblems) {
    logFormat = Self.logFormat(arguments)
    if let word = arguments.value("log-format"), LogFormat(rawValue: word) == nil {
      problems.append(
        Message("--log-format must be text or json, not {word}.", ["word": .text(word)]),
        of: "log-format")
    }
    if let text = arguments.value("metrics-listen") {
      let address = ServeConfiguration.address(text)
      if address == nil {
        problems.append(
          Message("--metrics-listen must be HOST:PORT, such as 127.0.0.1:9090."),
          of: "metrics-listen")
      }
      metrics = address.map { (host: $0.0, port: $0.1) }
    }
    drainDelay = problems.number("drain-delay", in: 0...300) ?? 0
  }

  /// Returns the format of the log, also while other options, or the format itself, are invalid.
  static func logFormat(_ arguments: Arguments) -> LogFormat {
    if let format = arguments.value("log-format").flatMap(LogFormat.init) { return format }
    return isatty(STDERR_FILENO) == 1 ? .text : .json
  }

  func problem(
    nextTo server: (host: String, port: Int), _ listen: String, _ arguments: Arguments
  ) -> Message? {
    // The system chooses another port for each 0.
    guard let metrics, server.port != 0, server.port == metrics.port else { return nil }
    let address = Message.Value.text(arguments.value("metrics-listen") ?? listen)
    guard server.host.lowercased() != metrics.host.lowercased() else {
      return Message(
        """
        --listen and --metrics-listen have the same address, {address}. Choose another port for \
        one of them.
        """, ["address": address])
    }
    guard Self.overlap(server.host, metrics.host) else { return nil }
    return Message(
      """
      --listen {listen} and --metrics-listen {metrics} overlap. Choose another port for one of \
      them.
      """, ["listen": .text(listen), "metrics": address])
  }

  /// Returns whether two hosts, of which one may be all addresses of this machine, have an address
  /// in common.
  ///
  /// A socket for all IPv6 addresses is for those of IPv4, too. A name may have several addresses,
  /// of which the server uses the first that's free.
  private static func overlap(_ one: String, _ other: String) -> Bool {
    let hosts = [NetworkAddress(one), NetworkAddress(other)]
    if hosts.contains(NetworkAddress("::")) { return true }
    guard let first = hosts[0], let second = hosts[1] else { return false }
    return first == second
      || first.isIPv4 && second.isIPv4 && hosts.contains(NetworkAddress("0.0.0.0"))
  }
}
