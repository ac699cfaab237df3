import Glibc
import Localization

/// The log, the metrics, and the time between a stop signal and the end of listening.
struct MonitoringConfiguration: Sendable {
  private(set) var logFormat: LogFormat
  /// The address of the metrics; nil for none.
  private(set) var metrics: (host: String, port: Int)?
  /// How long the server answers requests after a stop signal, while it reports that it isn't ready,
  /// in seconds.
  private(set) var drainDelay: Int

  static let options = [
    Option("log-format", "FORMAT", help: Message("cli.help-log-format")),
    Option("metrics-listen", "HOST:PORT", help: Message("cli.help-metrics-listen")),
    Option("drain-delay", "SECONDS", help: Message("cli.help-drain-delay")),
  ]

  init(_ arguments: Arguments, problems: inout ConfigurationProblems) {
    let isForPeople = isatty(STDERR_FILENO) == 1
    logFormat = isForPeople ? .text : .json
    if let word = arguments.value("log-format") {
      let format = LogFormat(rawValue: word)
      if format == nil {
        problems.append(
          Message("cli.log-format-must-be", ["word": .text(word)]), of: "log-format")
      }
      logFormat = format ?? logFormat
    }
    if let text = arguments.value("metrics-listen") {
      let address = ServeConfiguration.address(text)
      if address == nil {
        problems.append(Message("cli.metrics-listen-must-be-host-port"), of: "metrics-listen")
      }
      metrics = address.map { (host: $0.0, port: $0.1) }
    }
    drainDelay = problems.number("drain-delay", in: 0...300) ?? 0
  }
}
