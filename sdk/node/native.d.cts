// Types of the native addon. `native/*.rs` documents them.

declare namespace native {
  interface EvaluationArgs {
    agentId: string;
    output: string;
    tool?: string | undefined;
    input?: string | undefined;
    latencyMs?: number | undefined;
    tmaxMs?: number | undefined;
    startedAt?: number | undefined;
  }

  interface Answer {
    word: "pass" | "fail" | "skip" | "late" | "broken";
    reason?: string | undefined;
    seconds: number;
  }

  interface TelemetryArgs {
    server: string;
    key: string;
    intervalS: number;
    batch: number;
    buffer: number;
    spool?: string | undefined;
    spoolFirst: boolean;
  }

  class Engine {
    constructor(settings: string, names: string[] | null, customs: string[]);
    static fromFile(path: string, place: string, customs: string[]): Engine;
    static check(args: EvaluationArgs): void;
    readonly names: string[];
    readonly budgetMs: number;
    readonly failFast: boolean;
    evaluate(args: EvaluationArgs): string;
    evaluateLater(args: EvaluationArgs): Promise<string>;
    start(args: EvaluationArgs): Evaluation;
    startLater(args: EvaluationArgs): Promise<Evaluation>;
  }

  class Evaluation {
    readonly names: string[];
    readonly leftMs: number;
    finish(answers: Answer[]): string;
  }

  class Telemetry {
    constructor(args: TelemetryArgs, notify: (message: string) => void);
    track(text: string): void;
    flush(timeoutS: number): Promise<boolean>;
    shutdown(timeoutS: number): Promise<boolean>;
    beginShutdown(): void;
    shutdownNow(timeoutS: number): void;
    readonly dropped: number;
    readonly waiting: number;
  }
}

export = native;
