import Foundation
import JSON
import Localization

enum DoctorCommand: Command {
  static let name = "doctor"
  static let summary = Message("cli.summary-examines-the-data-folder-and-the-machine")
  static let options =
    ServeConfiguration.options + [
      Option("json", variable: false, help: Message("cli.help-print-findings-as-json"))
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
      case .ok: Message("cli.doctor-ok")
      case .warning: Message("cli.doctor-warning")
      case .error: Message("cli.doctor-error")
      }
    Terminal.say(
      Message(
        "cli.doctor-finding",
        [
          "severity": .message(severity), "check": .text(finding.check.rawValue),
          "finding": .message(finding.message),
        ]))
    guard let advice = finding.advice else { return }
    Terminal.say(Message("cli.doctor-advice", ["advice": .message(advice)]))
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
