import Foundation
import Identity
import Localization

/// Reads a policy file whenever it changes, so that the console shows which pools differ from it.
actor PolicyFileWatch {
  private let path: String
  private let policies: Policies
  private let say: @Sendable (LogEvent) -> Void
  /// The time and size of the file that was read last; nil if there was none.
  private var seen: Stamp??

  private struct Stamp: Equatable {
    let modifiedAt: Date?
    let size: UInt64?
  }

  init(
    path: String, policies: Policies,
    say: @escaping @Sendable (LogEvent) -> Void
  ) {
    self.path = path
    self.policies = policies
    self.say = say
  }

  /// Checks the file every two seconds until the task is canceled.
  func run() async {
    repeat { await check() } while (try? await Task.sleep(for: .seconds(2))) != nil
  }

  /// Reads the file if its time or size isn't the one that was read last.
  func check() async {
    let stamp = (try? FileManager.default.attributesOfItem(atPath: path)).map {
      Stamp(modifiedAt: $0[.modificationDate] as? Date, size: $0[.size] as? UInt64)
    }
    guard seen != .some(stamp) else { return }
    seen = .some(stamp)
    do {
      let file: PolicyFile
      do {
        file = try PolicyFileReader.read(path)
        policies.watch(file)
      } catch {
        policies.watch(nil)
        throw error
      }
      let drifts = try await policies.drift(from: file)
      say(
        .policyFile(
          Message(
            "cli.policies-differ-from-the-file",
            [
              "path": .text(path), "differing": .number(drifts.count),
              "count": .number(file.pools.count),
            ])))
    } catch let error as PolicyFileError {
      for message in error.messages(of: path) { say(.policyFileUnusable(message)) }
    } catch let error as ConfigurationError {
      for problem in error.problems { say(.policyFileUnusable(problem)) }
    } catch {
      say(.policyFileUnusable(.verbatim("\(error)")))
    }
  }
}
