import HTTP
import Identity
import Localization
import MailText
import OTP

/// The policy review as a CSV file.
///
/// The names of its columns are the same in every language, for programs that read it, and so are
/// the names of the settings in which a policy differs.
struct ReviewFile {
  private(set) var csv = CSV([
    "project", "tenant", "name", "TOTP", "adjacent intervals", "codes accepted", "SMS",
    "enrollment pattern", "mandatory from", "server enforcement", "enforced from", "grace days",
    "users", "enrolled", "enrolled %", "exemptions", "code attempts", "rejected", "last change",
    "changed by", "reason", "differs in", "address",
  ])
  private let publicURL: PublicURL
  private let project: ID<Project>
  private let catalog: Catalog

  init(publicURL: PublicURL, project: ID<Project>, catalog: Catalog) {
    (self.publicURL, self.project, self.catalog) = (publicURL, project, catalog)
  }

  /// Adds a scope.
  ///
  /// - Parameters:
  ///   - summary: The scope and its policy.
  ///   - base: The project's policy to compare with; nil for administrators who can't read it.
  ///   - exemptions: The number of users who are exempt from MFA.
  ///   - attempts: The code attempts of the last ``PoolTables/days`` days.
  mutating func add(
    _ summary: PolicySummary, base: PolicyInForce?, exemptions: Int, attempts: AttemptCounts
  ) {
    let (configuration, enforcement) = (summary.edit.configuration, summary.edit.enforcement)
    let path =
      summary.tenant.map { ConsolePaths.policy.ofTenant(project.text, $0.text) }
      ?? ConsolePaths.policy.ofProject(project.text)
    let differences = base.map { summary.inForce.differences(from: $0).map(\.rawValue) } ?? []
    csv.add([
      project.text, summary.tenant?.text ?? "", summary.displayName,
      catalog.text(PolicyChange.value(.totp, summary.edit).message),
      catalog.text(WindowWords.number(configuration)),
      String(configuration.accepted?.codes ?? 0),
      catalog.text(configuration.isSMSOn ? Message("common.on") : Message("common.off")),
      summary.edit.pattern?.rawValue ?? "", summary.edit.mandatoryFrom?.description ?? "",
      enforcement?.mode.rawValue ?? "off", enforcement?.from.description ?? "",
      enforcement.map { String($0.graceDays) } ?? "",
      String(summary.users), String(summary.enrolledUsers),
      summary.users == 0 ? "" : String(summary.enrolledUsers * 100 / summary.users),
      String(exemptions), String(attempts.all), String(attempts.rejected),
      summary.changedAt?.rfc3339Milliseconds ?? "", summary.changedBy ?? "",
      summary.changeReason ?? "",
      differences.joined(separator: ", "), publicURL.origin + path,
    ])
  }
}
