import Foundation
import JSON
import Localization

enum DoctorCommand: Command {
  static let name = "doctor"
  static let summary = Message(
    """
    examines the data folder, the configuration, and the machine, and gives advice; exits 0 if \
    all is well, 1 with warnings, and 2 with errors
    """)
  static let options =
    ServeConfiguration.options + [
      Option("json", variable: false, help: Message("Print the findings as JSON."))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let doctor = Doctor(
      arguments: arguments, environment: ProcessInfo.processInfo.environment)
    let findings = await doctor.findings()
    if arguments.has("json") {
      let document: JSON = .array(findings.map(Self.json))
      Terminal.say(document: String(decoding: document.indented(), as: UTF8.self))
    } else {
      findings.forEach(say)
    }
    return (findings.map(\.severity).max() ?? .ok).rawValue
  }

  private static func say(_ finding: Finding) {
    let severity =
      switch finding.severity {
      case .ok: Message("ok")
      case .warning: Message("warning")
      case .error: Message("error")
      }
    Terminal.say(
      Message(
        "{severity}\t{check}: {finding}",
        [
          "severity": .message(severity), "check": .text(finding.check.rawValue),
          "finding": .message(finding.message),
        ]))
    guard let advice = finding.advice else { return }
    Terminal.say(Message("\t{advice}", ["advice": .message(advice)]))
  }

  private static func json(_ finding: Finding) -> JSON {
    [
      "check": .string(finding.check.rawValue),
      "severity": .string("\(finding.severity)"),
      "message": .string(OperatorText.string(finding.message)),
      "advice": finding.advice.map { .string(OperatorText.string($0)) } ?? .null,
    ]
  }
}

enum CheckConfigCommand: Command {
  static let name = "check-config"
  static let summary = Message(
    """
    reports every problem in the options of serve, from flags, environment, and file; exits 78 if \
    there are any
    """)
  static let options = ServeConfiguration.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    var problems: [Message] = []
    var (passkeys, ignoresBackups) = (nil as Finding?, false)
    do {
      let configuration = try ServeConfiguration(
        arguments, environment: ProcessInfo.processInfo.environment)
      (passkeys, ignoresBackups) = (configuration.passkeys, configuration.ignoresBackups)
    } catch {
      problems = error.problems
    }
    problems += ConfiguredFiles(arguments).problems
    guard problems.isEmpty else { throw ConfigurationError(problems) }
    Terminal.say(Message("The configuration is valid."))
    if ignoresBackups { Terminal.say(Finding.backupsIgnored.message) }
    if let passkeys, case .passkeysImpossible = passkeys { Terminal.say(passkeys.message) }
    return 0
  }
}
