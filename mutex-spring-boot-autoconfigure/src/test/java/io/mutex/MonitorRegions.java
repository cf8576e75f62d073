package io.mutex;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;

/**
 * What is called while a monitor is held, read from the byte code: in a
 * {@code synchronized} method, and in any other from the first place where it enters a
 * monitor to the last where it leaves one. Calls of our own methods are followed; where
 * one may be overridden, every method of its name and descriptor is taken for it.
 */
final class MonitorRegions {

	private final Map<String, List<Method>> methods = new HashMap<>();

	private final List<Method> guarded = new ArrayList<>();

	/**
	 * Reads a class.
	 * @param bytes its byte code
	 * @throws IOException if it cannot be read
	 */
	void read(InputStream bytes) throws IOException {
		new ClassReader(bytes).accept(new Reader(), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
	}

	/** How many methods hold a monitor. */
	int size() {
		return this.guarded.size();
	}

	/**
	 * The nearest call that is not allowed of each method that holds a monitor.
	 * @param forbidden tells such a call by class and method
	 * @return the calls, in words
	 */
	Set<String> calls(Predicate<String> forbidden) {
		Set<String> found = new TreeSet<>();
		for (Method origin : this.guarded) {
			Deque<Call> open = new ArrayDeque<>(origin.guardedCalls());
			Set<Call> seen = new HashSet<>(open);
			while (!open.isEmpty()) {
				Call call = open.remove();
				if (forbidden.test(call.name())) {
					found.add(origin.name + " holds a monitor and calls " + call.name());
					break;
				}
				for (Method target : targets(call)) {
					target.calls.stream().filter(seen::add).forEach(open::add);
				}
			}
		}
		return found;
	}

	private List<Method> targets(Call call) {
		if (!call.type().startsWith("io.mutex.")) {
			return List.of();
		}
		return this.methods.getOrDefault(call.method(), List.of())
			.stream()
			.filter((method) -> call.virtual() || method.name.equals(call.name()))
			.toList();
	}

	private final class Reader extends ClassVisitor {

		private String type = "";

		Reader() {
			super(Opcodes.ASM9);
		}

		@Override
		public void visit(int version, int access, String name, @Nullable String signature, @Nullable String superName,
				String @Nullable [] interfaces) {
			this.type = name.replace('/', '.');
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String descriptor, @Nullable String signature,
				String @Nullable [] exceptions) {
			boolean whole = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
			Method method = new Method(this.type + "." + name + descriptor, whole);
			MonitorRegions.this.methods.computeIfAbsent(name + descriptor, (key) -> new ArrayList<>()).add(method);
			return new Body(method);
		}

	}

	private final class Body extends MethodVisitor {

		private final Method method;

		Body(Method method) {
			super(Opcodes.ASM9);
			this.method = method;
		}

		@Override
		public void visitInsn(int opcode) {
			if (opcode == Opcodes.MONITORENTER && this.method.first < 0) {
				this.method.first = this.method.calls.size();
			}
			else if (opcode == Opcodes.MONITOREXIT) {
				this.method.last = this.method.calls.size();
			}
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			call(owner, name + descriptor, opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE);
		}

		// what a lambda does is taken for done where it is made
		@Override
		public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
			for (Object argument : arguments) {
				if (argument instanceof Handle handle) {
					call(handle.getOwner(), handle.getName() + handle.getDesc(),
							handle.getTag() == Opcodes.H_INVOKEVIRTUAL || handle.getTag() == Opcodes.H_INVOKEINTERFACE);
				}
			}
		}

		private void call(String owner, String method, boolean virtual) {
			this.method.calls.add(new Call(owner.replace('/', '.'), method, virtual));
		}

		@Override
		public void visitEnd() {
			if (this.method.first >= 0) {
				MonitorRegions.this.guarded.add(this.method);
			}
		}

	}

	private record Call(String type, String method, boolean virtual) {

		String name() {
			return this.type + "." + this.method;
		}

	}

	private static final class Method {

		private final String name;

		private final List<Call> calls = new ArrayList<>();

		private final boolean whole;

		private int first;

		private int last;

		Method(String name, boolean whole) {
			this.name = name;
			this.whole = whole;
			this.first = whole ? 0 : -1;
		}

		List<Call> guardedCalls() {
			return this.calls.subList(this.first, this.whole ? this.calls.size() : this.last);
		}

	}

}
