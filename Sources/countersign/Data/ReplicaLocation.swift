import Database
import Localization

/// A replica of the database on a server, which downloads are read from.
struct ReplicaLocation: Sendable {
  let address: ServerAddress
  /// How old its data may be, in seconds.
  let mostSecondsBehind: Int
  /// Receives the status when it's first known, and each time it changes.
  var report: @Sendable (ReplicaStatus) -> Void = { _ in }

  static let url = Option("replica", "URL", help: Message("cli.help-replica"))
  static let age = Option("replica-max-age", "SECONDS", help: Message("cli.help-replica-max-age"))

  private static let ages = 1...86_400
  private static let usualAge = 60

  /// Parses the options, and appends what's wrong with them; nil without a replica.
  init?(
    _ arguments: Arguments, of database: DatabaseLocation, problems: inout ConfigurationProblems
  ) {
    let seconds = problems.number(Self.age.name, in: Self.ages) ?? Self.usualAge
    guard let text = arguments.value(Self.url.name) else { return nil }
    if database == .file {
      problems.append(
        Message("cli.requires-database", ["name": .text(Self.url.name)]), of: Self.url.name)
    }
    do throws(ServerAddress.Malformed) {
      address = try ServerAddress(text, of: Self.url.name)
    } catch {
      problems.append(error.problem, of: Self.url.name)
      return nil
    }
    mostSecondsBehind = seconds
  }
}
